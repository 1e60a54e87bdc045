package mail_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/cairn-rag/cairn/internal/extract/extracttest"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/mail"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/google/go-cmp/cmp"
)

// source returns a file with this content.
func source(t *testing.T, content string) format.Source {
	t.Helper()
	folder := t.TempDir()
	path := filepath.Join(folder, "upload")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return format.Source{Path: path, Size: int64(len(content)), Folder: folder}
}

// read returns the result for a message, and the content of each child.
func read(t *testing.T, content string) (format.Result, []string) {
	t.Helper()
	s := source(t, content)
	result, err := mail.Read(s)
	if err != nil {
		t.Fatal(err)
	}
	var children []string
	for _, c := range result.Children {
		data, err := os.ReadFile(filepath.Join(s.Folder, c.File))
		if err != nil {
			t.Fatal(err)
		}
		children = append(children, string(data))
	}
	return result, children
}

func texts(layout knowledge.Layout) string {
	var b strings.Builder
	for _, block := range layout.Blocks {
		fmt.Fprintf(&b, "%s: %s\n", block.Kind, block.Text)
	}
	return b.String()
}

// TestMessages reads the messages in testdata. Files of each archive: message.eml, the
// text that it has, and the names of its children.
func TestMessages(t *testing.T) {
	t.Parallel()
	extracttest.EachSample(t, func(t *testing.T, files map[string]string) {
		result, _ := read(t, strings.ReplaceAll(files["message.eml"], "\n", "\r\n"))
		if diff := cmp.Diff(files["text.txt"], texts(result.Layout)); diff != "" {
			t.Error(diff)
		}
		var names strings.Builder
		for _, c := range result.Children {
			fmt.Fprintf(&names, "%s (%s)\n", c.Name, c.MediaType)
		}
		if diff := cmp.Diff(files["children.txt"], names.String()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	result, _ := read(t, "From: =?utf-8?q?J=C3=BCrg_Moser?= <jm@example.com>\r\nTo: a@example.com, \"Lee, Ann\" <lee@example.com>\r\n"+
		"Cc: office@example.com\r\nDate: Tue, 4 Mar 2025 06:00:00 +0100\r\nSubject: =?iso-8859-1?q?Caf=E9?=\r\n\r\nHello.\r\n")
	want := map[string]string{
		"from": "Jürg Moser <jm@example.com>", "to": "a@example.com, Lee, Ann <lee@example.com>", "cc": "office@example.com",
		"date": "2025-03-04T06:00:00+01:00", "subject": "Café",
	}
	if diff := cmp.Diff(want, result.Layout.Metadata); diff != "" || result.Layout.Title != "Café" {
		t.Errorf("title %q, %s", result.Layout.Title, diff)
	}
}

func TestCharacterSets(t *testing.T) {
	t.Parallel()
	for behaviour, part := range map[string]string{
		"stated":                         "Content-Type: text/plain; charset=iso-8859-1\r\n\r\nThe caf\xe9 opens.\r\n",
		"quoted":                         "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\nThe caf=C3=\r\n=A9 opens.\r\n",
		"in base64":                      "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n\r\n" + base64.StdEncoding.EncodeToString([]byte("The café opens.")) + "\r\n",
		"not stated":                     "Content-Type: text/plain\r\n\r\nThe caf\xe9 opens.\r\n",
		"unknown":                        "Content-Type: text/plain; charset=x-user-defined\r\n\r\nThe caf\xe9 opens.\r\n",
		"of a page that says it in HTML": "Content-Type: text/html\r\n\r\n<meta charset=iso-8859-1><p>The caf\xe9 opens.</p>\r\n",
	} {
		t.Run(behaviour, func(t *testing.T) {
			t.Parallel()
			result, _ := read(t, "From: a@example.com\r\nMIME-Version: 1.0\r\n"+part)
			if got := texts(result.Layout); !strings.HasSuffix(got, "paragraph: The café opens.\n") {
				t.Errorf("%q", got)
			}
		})
	}
}

// nested returns a message inside as many others, each the attachment of the next.
func nested(levels int) string {
	message := "From: a@example.com\r\nSubject: level 0\r\nMIME-Version: 1.0\r\n\r\nThe innermost text.\r\n"
	for i := range levels {
		message = fmt.Sprintf("From: a@example.com\r\nSubject: level %d\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=\"b%d\"\r\n\r\n"+
			"--b%d\r\nContent-Type: text/plain\r\n\r\nSee the attachment.\r\n--b%d\r\nContent-Type: message/rfc822\r\n\r\n%s\r\n--b%d--\r\n", i+1, i, i, i, message, i)
	}
	return message
}

func TestMessagesTenDeep(t *testing.T) {
	t.Parallel()
	message := nested(10)
	for level := 10; level > 0; level-- {
		result, children := read(t, message)
		if want := fmt.Sprintf("level %d", level); result.Layout.Title != want || len(children) != 1 {
			t.Fatalf("title %q with %d children, want %q with one", result.Layout.Title, len(children), want)
		}
		if want := fmt.Sprintf("level %d.eml", level-1); result.Children[0].Name != want || result.Children[0].MediaType != "message/rfc822" {
			t.Fatalf("child %+v, want %q", result.Children[0], want)
		}
		message = children[0]
	}
	result, children := read(t, message)
	if !strings.Contains(texts(result.Layout), "The innermost text.") || len(children) != 0 {
		t.Errorf("%s, %d children", texts(result.Layout), len(children))
	}
}

func TestMailboxesAreSplit(t *testing.T) {
	t.Parallel()
	one := "From ann@example.com Tue Mar  4 06:00:00 2025\nFrom: ann@example.com\nSubject: First\n\nHello.\nFrom here it is text.\n\n"
	two := "From bob@example.com Tue Mar  4 07:00:00 2025\nFrom: bob@example.com\nSubject: Second\n\nGoodbye.\n"
	result, _ := read(t, one+two)
	want := "heading: First\nparagraph: From: ann@example.com\nSubject: First\nparagraph: Hello.\nFrom here it is text.\n" +
		"heading: Second\nparagraph: From: bob@example.com\nSubject: Second\nparagraph: Goodbye.\n"
	if diff := cmp.Diff(want, texts(result.Layout)); diff != "" {
		t.Error(diff)
	}
	result, _ = read(t, one)
	if result.Layout.Title != "First" {
		t.Errorf("title %q", result.Layout.Title)
	}
}

func TestPicturesOfTheTextAreAssets(t *testing.T) {
	t.Parallel()
	picture := func(size int) string { return base64.StdEncoding.EncodeToString(make([]byte, size)) }
	result, _ := read(t, "From: a@example.com\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=b\r\n\r\n"+
		"--b\r\nContent-Type: text/html\r\n\r\n<p>Look: <img src=\"cid:1\"></p>\r\n"+
		"--b\r\nContent-Type: image/png\r\nContent-ID: <1>\r\nContent-Transfer-Encoding: base64\r\n\r\n"+picture(4096)+"\r\n"+
		"--b\r\nContent-Type: image/gif\r\nContent-ID: <2>\r\nContent-Transfer-Encoding: base64\r\n\r\n"+picture(43)+"\r\n--b--\r\n")
	if len(result.Assets) != 1 || result.Assets[0].MediaType != "image/png" || len(result.Children) != 0 {
		t.Fatalf("assets %+v, children %+v", result.Assets, result.Children)
	}
	last := result.Layout.Blocks[len(result.Layout.Blocks)-1]
	if last.Kind != knowledge.BlockFigure || last.Figure != result.Assets[0].Name {
		t.Errorf("last block %+v", last)
	}
}

func TestHostileMessages(t *testing.T) {
	t.Parallel()
	deep := "From: a@example.com\r\nMIME-Version: 1.0\r\n"
	for i := range 200 {
		deep += fmt.Sprintf("Content-Type: multipart/mixed; boundary=b%d\r\n\r\n--b%d\r\n", i, i)
	}
	head := "From: a@example.com\r\nMIME-Version: 1.0\r\n"
	for behaviour, tc := range map[string]struct {
		message string
		code    knowledge.Code
	}{
		"parts in each other": {deep + "\r\ntext", knowledge.CodeParseLimit},
		"many parts":          {head + "Content-Type: multipart/mixed; boundary=b\r\n\r\n" + strings.Repeat("--b\r\n\r\nx\r\n", 100_000), knowledge.CodeParseLimit},
		"an encrypted message": {head + "Content-Type: application/pkcs7-mime; smime-type=enveloped-data\r\nContent-Transfer-Encoding: base64\r\n\r\nAAAA\r\n",
			knowledge.CodeEncrypted},
		"a message encrypted by PGP": {head + "Content-Type: multipart/encrypted; boundary=b\r\n\r\n--b\r\nContent-Type: application/pgp-encrypted\r\n\r\nVersion: 1\r\n--b\r\nContent-Type: application/octet-stream\r\n\r\nx\r\n--b--\r\n",
			knowledge.CodeEncrypted},
		"a part that never ends":     {head + "Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\ntext", ""},
		"base64 that is cut off":     {head + "Content-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\nSGVsbG8gd29ybGQgYW5kIG1vcmU*", ""},
		"a part without a boundary":  {head + "Content-Type: multipart/mixed\r\n\r\ntext\r\n", ""},
		"a header without an end":    {head + "Subject: " + strings.Repeat("x", 1<<20), ""},
		"addresses of no known form": {"From: <<<>>,,;\r\nTo: @@\r\nMIME-Version: 1.0\r\n\r\ntext\r\n", ""},
	} {
		t.Run(behaviour, func(t *testing.T) {
			t.Parallel()
			_, err := mail.Read(source(t, tc.message))
			if tc.code == "" && err != nil || tc.code != "" && !knowledge.IsCode(err, tc.code) {
				t.Errorf("error %v, want code %q", err, tc.code)
			}
		})
	}
}

func TestSavedPage(t *testing.T) {
	t.Parallel()
	result, err := mail.ReadPage(source(t, "From: <Saved by a browser>\r\nSnapshot-Content-Location: https://example.com/tea\r\nSubject: Tea\r\nMIME-Version: 1.0\r\n"+
		"Content-Type: multipart/related; boundary=b; type=\"text/html\"\r\n\r\n"+
		"--b\r\nContent-Type: text/html\r\nContent-Transfer-Encoding: quoted-printable\r\nContent-Location: https://example.com/tea\r\n\r\n"+
		"<html><head><meta http-equiv=3D\"content-type\" content=3D\"text/html; charset=3Diso-8859-1\"><title>About tea</title></head>"+
		"<body><nav>Home</nav><p>Tea in the caf=E9.</p><img src=3D\"https://example.com/tea.png\"></body></html>\r\n"+
		"--b\r\nContent-Type: image/png\r\nContent-Location: https://example.com/tea.png\r\nContent-Transfer-Encoding: base64\r\n\r\nAAAA\r\n--b--\r\n"))
	if err != nil {
		t.Fatal(err)
	}
	want := knowledge.Layout{
		Title: "About tea", Metadata: map[string]string{"url": "https://example.com/tea"},
		Blocks: []knowledge.Block{{Kind: knowledge.BlockFurniture, Text: "Home"}, {Kind: knowledge.BlockParagraph, Text: "Tea in the café."}},
	}
	if diff := cmp.Diff(want, result.Layout); diff != "" {
		t.Error(diff)
	}
}

func TestSavedPageTenDeep(t *testing.T) {
	t.Parallel()
	inside := func(levels int) string {
		part := "Content-Type: text/html\r\n\r\n<p>The innermost page.</p>\r\n"
		for i := range levels {
			part = fmt.Sprintf("Content-Type: multipart/related; boundary=\"b%d\"\r\n\r\n--b%d\r\n%s\r\n--b%d\r\nContent-Type: message/rfc822\r\n\r\n%s\r\n--b%d--\r\n",
				i, i, part, i, "From: a@example.com\r\n\r\nAn attached message.", i)
		}
		return "From: <Saved by a browser>\r\nMIME-Version: 1.0\r\n" + part
	}
	result, err := mail.ReadPage(source(t, inside(10)))
	if err != nil || texts(result.Layout) != "paragraph: The innermost page.\n" {
		t.Errorf("%s, %v", texts(result.Layout), err)
	}
	if _, err := mail.ReadPage(source(t, inside(100))); !knowledge.IsCode(err, knowledge.CodeParseLimit) {
		t.Errorf("a hundred levels: %v", err)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(nested(2)))
	f.Add([]byte("From a Tue 2025\nFrom: a\n\nx\n\nFrom b Tue 2025\nSubject: b\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := mail.Read(source(t, string(data)))
		if e := knowledge.AsError(err); err != nil && e.Code == knowledge.CodeInternal {
			t.Error(err)
		}
	})
}

// inUTF16 returns text in UTF-16 with a byte order mark.
func inUTF16(text string) string {
	out := []byte{0xff, 0xfe}
	for _, unit := range utf16.Encode([]rune(text)) {
		out = append(out, byte(unit), byte(unit>>8))
	}
	return string(out)
}

func TestTheStatedCharacterSetMayBeWrong(t *testing.T) {
	t.Parallel()
	body := func(charset, text string) string {
		return "From: ann@example.com\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=" + charset + "\r\nContent-Transfer-Encoding: 8bit\r\n\r\n" + text
	}
	const size = "Die Größe ist fünf Meter."
	for behaviour, tc := range map[string]struct{ message, want string }{
		"UTF-8 as us-ascii":             {body("us-ascii", size), size},
		"UTF-8 as iso-8859-1":           {body("iso-8859-1", size), size},
		"UTF-8 as koi8-r":               {body("koi8-r", "Мир и Größe"), "Мир и Größe"},
		"UTF-8 as us-ascii in HTML":     {strings.Replace(body("us-ascii", "<p>"+size+"</p>"), "text/plain", "text/html", 1), size},
		"Windows-1252 as us-ascii":      {body("us-ascii", "Die Gr\xf6\xdfe ist f\xfcnf Meter."), size},
		"Latin-1 as it says":            {body("iso-8859-1", "Die Gr\xf6\xdfe ist f\xfcnf Meter."), size},
		"a message in UTF-16":           {inUTF16(body("utf-16", size)), size},
		"one that says another set":     {inUTF16(body("iso-8859-1", size)), size},
		"UTF-16 without a mark":         {inUTF16(body("utf-8", size))[2:], size},
		"a part in UTF-16":              {"From: a@b.de\nMIME-Version: 1.0\nContent-Type: text/plain; charset=utf-16\nContent-Transfer-Encoding: base64\n\n//5HAHIA9gDfAGUA\n", "Größe"},
		"a byte order mark of UTF-8":    {"\xef\xbb\xbf" + body("utf-8", size), size},
		"an encoded word in a language": {"From: a@b.de\nMIME-Version: 1.0\nSubject: =?utf-8*de?Q?Gr=C3=B6=C3=9Fe?=\n\nx", "Subject: Größe"},
		"an encoded sender":             {"From: =?utf-8?B?TcO8bGxlcg==?= <a@b.de>\nCc: \"=?utf-8?Q?J=C3=BCrg?=\" <c@d.de>\nMIME-Version: 1.0\n\nx", "From: Müller <a@b.de>\nCc: Jürg <c@d.de>"},
	} {
		result, _ := read(t, tc.message)
		if got := texts(result.Layout); !strings.Contains(got, tc.want+"\n") {
			t.Errorf("%s: %q", behaviour, got)
		}
	}
}

// TestProgramsBeforeMIME reads what old programs, and those that break the rules, write.
func TestProgramsBeforeMIME(t *testing.T) {
	t.Parallel()
	const from = "From: ann@example.com\r\nTo: bob@example.com\r\n"
	for _, tc := range []struct {
		behaviour, message, want string
		children                 []string
	}{
		{"signs of the Windows set in Latin-1", from + "Subject: x\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=iso-8859-1\r\n\r\nPreis: 12 \x80 \x96 \x84gut\x93\r\n", "Preis: 12 € – „gut“\n", nil},
		{"a header in the Windows set", from + "Subject: Pr\xfcfung\r\n\r\nHallo.\r\n", "Subject: Prüfung\n", nil},
		{"a header in Cyrillic", from + "Subject: \xcd\xe0\xf1\xee\xf1 \xf0\xe0\xe1\xee\xf2\xe0\xe5\xf2\r\n\r\nHallo.\r\n", "Subject: Насос работает\n", nil},
		{"a file in the text", from + "Subject: uu\r\n\r\nSee the file.\r\n\r\nbegin 644 note.txt\r\n" + "65&AE('-E86P@:VET(&ES(%-++3DN\"@``" + "\r\n`\r\nend\r\n\r\nRegards\r\n", "paragraph: See the file.\nparagraph: Regards\n", []string{"The seal kit is SK-9.\n"}},
		{"text that only begins like a file", from + "Subject: uu\r\n\r\nbegin 100 days\r\nof tests, and\r\nend\r\n", "begin 100 days\nof tests, and\nend\n", nil},
		{"a hint to the HTML", from + "Subject: alt\r\nMIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary=C\r\n\r\n--C\r\nContent-Type: text/plain\r\n\r\nYour mail program cannot show HTML.\r\n--C\r\nContent-Type: text/html\r\n\r\n<p>The pump runs at <b>42 bar</b>.</p>\r\n--C--\r\n", "paragraph: The pump runs at 42 bar.\n", nil},
		{"the same text twice", from + "Subject: alt\r\nMIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary=C\r\n\r\n--C\r\nContent-Type: text/plain\r\n\r\nThe pump runs at *42 bar*, see below.\r\n--C\r\nContent-Type: text/html\r\n\r\n<p>The pump runs at <b>42 bar</b>.</p>\r\n--C--\r\n", "paragraph: The pump runs at *42 bar*, see below.\n", nil},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			result, children := read(t, tc.message)
			if got := texts(result.Layout); !strings.Contains(got, tc.want) {
				t.Errorf("it is read as\n%swant\n%s", got, tc.want)
			}
			if diff := cmp.Diff(tc.children, children); diff != "" {
				t.Error(diff)
			}
		})
	}
}
