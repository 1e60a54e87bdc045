package outlook_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/mail"
	"github.com/cairn-rag/cairn/internal/extract/outlook"
	"github.com/cairn-rag/cairn/internal/extract/outlook/outlooktest"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

type storage = outlooktest.Storage

func source(t testing.TB, data []byte) format.Source {
	t.Helper()
	path := filepath.Join(t.TempDir(), "message")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return format.Source{Path: path, Size: int64(len(data)), Folder: t.TempDir()}
}

func textOf(r format.Result) string {
	var b strings.Builder
	for _, block := range r.Layout.Blocks {
		b.WriteString(block.Text + "\n")
	}
	return b.String()
}

func recipient(kind int, name, email string) storage {
	return outlooktest.Object(outlooktest.Other, map[uint32]any{0x0c15: kind, 0x3001: name, 0x39fe: email})
}

// offer returns a message with its recipients.
func offer(properties map[uint32]any, header int) storage {
	all := map[uint32]any{
		0x001a: "IPM.Note", 0x0037: "Offer of the pump", 0x0042: "Müller, Ann", 0x0065: "/O=EXAMPLE/CN=ANN", 0x5d02: "ann@example.com",
		0x0039: time.Date(2025, 3, 4, 6, 0, 0, 0, time.UTC),
	}
	for id, value := range properties {
		all[id] = value
	}
	return outlooktest.Object(header, all).With("recip",
		recipient(1, "Bob", "bob@example.com"), recipient(2, "Cat", "cat@example.com"), recipient(1, "dan@example.com", "dan@example.com"), recipient(3, "Eve", "eve@example.com"))
}

func attachment(properties map[uint32]any) storage {
	return outlooktest.Object(outlooktest.Other, properties)
}

func TestMessage(t *testing.T) {
	t.Parallel()
	const page = `<html><head><meta charset="windows-1252"></head><body><h1>Prices</h1><table><tr><th>Pump</th><th>Price</th></tr><tr><td>HX4</td><td>400 €</td></tr></table></body></html>`
	inCodePage := func(text string) []byte {
		return []byte(strings.ReplaceAll(strings.ReplaceAll(text, "€", "\x80"), "ü", "\xfc"))
	}
	for _, tc := range []struct {
		behaviour  string
		properties map[uint32]any
		want       string
	}{
		{"text", map[uint32]any{0x1000: "The pump costs 400 €.\r\n\r\nAnn"}, "The pump costs 400 €.\nAnn\n"},
		{"text in a code page", map[uint32]any{0x1000 | outlooktest.TypeString8: inCodePage("Preis für die Pumpe: 400 €"), 0x3ffd: 1252}, "Preis für die Pumpe: 400 €\n"},
		{"text in Cyrillic", map[uint32]any{0x1000 | outlooktest.TypeString8: []byte("\xcd\xe0\xf1\xee\xf1"), 0x3ffd: 1251}, "Насос\n"},
		{"text in Japanese", map[uint32]any{0x1000 | outlooktest.TypeString8: []byte("\x83\x7c\x83\x93\x83\x76"), 0x3fde: 932}, "ポンプ\n"},
		{"long text, which is stored in another way", map[uint32]any{0x1000: strings.Repeat("long ", 3000) + "end"}, strings.Repeat("long ", 3000) + "end\n"},
		{"HTML", map[uint32]any{0x1013: inCodePage(page), 0x3fde: 1252}, "Prices\n| Pump | Price |\n| --- | --- |\n| HX4 | 400 € |\n"},
		{"HTML as text", map[uint32]any{0x1013: page}, "Prices\n| Pump | Price |\n| --- | --- |\n| HX4 | 400 € |\n"},
		{"HTML beside less text", map[uint32]any{0x1013: page, 0x1000: " \r\n"}, "Prices\n| Pump | Price |\n| --- | --- |\n| HX4 | 400 € |\n"},
		{"RTF", map[uint32]any{0x1009: packed(`{\rtf1\ansi\ansicpg1252{\fonttbl{\f0\fcharset0 Arial;}}{\*\generator x;}\f0 The pump\par costs 400 \'80 (\u8364?).}`)}, "The pump\ncosts 400 € (€).\n"},
		{"RTF in two scripts", map[uint32]any{0x1009: packed(`{\rtf1\ansi{\fonttbl{\f0\fcharset0 Arial;}{\f1\fcharset204 Arial;}}\f0 f\'fcr {\f1 \'cd\'e0\'f1\'ee\'f1} f\'fcr}`)}, "für Насос für\n"},
		{"RTF that is not compressed", map[uint32]any{0x1009: plainRTF(`{\rtf1 The pump}`)}, "The pump\n"},
		{"HTML in RTF", map[uint32]any{0x1009: packed(`{\rtf1\ansi\ansicpg1252\fromhtml1 {\fonttbl{\f0 Arial;}}{\*\htmltag64 <h1>}\htmlrtf {\b \htmlrtf0 Prices f\'fcr alle\htmlrtf }\htmlrtf0 {\*\htmltag72 </h1>}{\*\mhtmltag <x>}{\*\htmltag64 <p>}400 {\*\htmltag84 &euro;}\htmlrtf \'80\htmlrtf0 {\*\htmltag72 </p>}}`)}, "Prices für alle\n400 €\n"},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			result, err := outlook.Read(source(t, outlooktest.Compound(offer(tc.properties, outlooktest.Root))))
			if err != nil {
				t.Fatal(err)
			}
			const head = "From: Müller, Ann <ann@example.com>\nTo: Bob <bob@example.com>, dan@example.com\nCc: Cat <cat@example.com>\nDate: Tue, 04 Mar 2025 06:00:00 +0000\nSubject: Offer of the pump\n"
			if diff := cmp.Diff(head+tc.want, textOf(result)); diff != "" {
				t.Error(diff)
			}
			wantMetadata := map[string]string{
				"from": "Müller, Ann <ann@example.com>", "to": "Bob <bob@example.com>, dan@example.com", "cc": "Cat <cat@example.com>",
				"date": "2025-03-04T06:00:00Z", "subject": "Offer of the pump",
			}
			if diff := cmp.Diff(wantMetadata, result.Layout.Metadata); diff != "" || result.Layout.Title != "Offer of the pump" {
				t.Error(result.Layout.Title, diff)
			}
		})
	}
}

func TestHeadersOfMessage(t *testing.T) {
	t.Parallel()
	message := outlooktest.Object(outlooktest.Root, map[uint32]any{
		0x0037: "\x01\x05Re: The pump", 0x0c1a: "Ann", 0x0c1f: "/O=EXAMPLE/CN=ANN", 0x0e04: "Bob; Cat", 0x1000: "Yes.",
		0x007d: "Received: from a\r\nDate: Tue, 4 Mar 2025 08:00:00 +0200\r\n\r\n", 0x0e06: time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC),
	})
	result, err := outlook.Read(source(t, outlooktest.Compound(message)))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"from": "Ann", "to": "Bob; Cat", "date": "2025-03-04T08:00:00+02:00", "subject": "Re: The pump"}
	if diff := cmp.Diff(want, result.Layout.Metadata); diff != "" {
		t.Error(diff)
	}
}

func TestAttachments(t *testing.T) {
	t.Parallel()
	picture := append([]byte("\x89PNG\r\n\x1a\n"), bytes.Repeat([]byte{1}, 2000)...)
	innermost := offer(map[uint32]any{0x0037: "The innermost Größe", 0x1000: "Deep inside for 5 €."}, outlooktest.Embedded)
	inner := offer(map[uint32]any{0x0037: "Inner: a question", 0x1000: "What does it cost, in €?"}, outlooktest.Embedded).With("attach",
		attachment(map[uint32]any{0x3705: 5, 0x3701: innermost}),
		attachment(map[uint32]any{0x3705: 1, 0x3701: []byte("a,b\n1,2"), 0x3707: "Größe.csv", 0x370e: "text/csv"}))
	message := offer(map[uint32]any{0x1000: "See the files."}, outlooktest.Root).With("attach",
		attachment(map[uint32]any{0x3705: 1, 0x3701: []byte("%PDF-1.7"), 0x3707: "Preise für 2025.pdf", 0x3704: "PREISE~1.PDF"}),
		attachment(map[uint32]any{0x3705: 5, 0x3701: inner, 0x3001: "Inner: a question"}),
		attachment(map[uint32]any{0x3705: 1, 0x3701: picture, 0x3707: "image001.png", 0x370e: "image/png", 0x3712: "image001@x", 0x3714: 4}),
		attachment(map[uint32]any{0x3705: 6, 0x3701: storage{"CONTENTS": []byte("object")}}),
		attachment(map[uint32]any{0x3705: 7, 0x3707: "linked.docx"}),
	)
	s := source(t, outlooktest.Compound(message))
	result, err := outlook.Read(s)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range result.Children {
		names = append(names, c.Name+" "+c.MediaType)
	}
	if diff := cmp.Diff([]string{"Preise für 2025.pdf application/octet-stream", "Inner: a question.eml message/rfc822"}, names); diff != "" {
		t.Fatal(diff)
	}
	if len(result.Assets) != 1 || result.Assets[0].MediaType != "image/png" {
		t.Errorf("assets %+v", result.Assets)
	}
	if w := result.Layout.Warnings; len(w) != 1 || w[0].Code != knowledge.WarnAttachments || !strings.HasPrefix(w[0].Message, "2 attachments") {
		t.Errorf("warnings %v", w)
	}
	child := readMail(t, filepath.Join(s.Folder, result.Children[1].File))
	if text := textOf(child); !strings.Contains(text, "From: Müller, Ann <ann@example.com>") || !strings.Contains(text, "What does it cost, in €?") {
		t.Errorf("the message inside says %q", text)
	}
	if len(child.Children) != 2 || child.Children[0].Name != "The innermost Größe.eml" || child.Children[1].Name != "Größe.csv" {
		t.Fatalf("the message inside has %+v", child.Children)
	}
	again := source(t, outlooktest.Compound(message))
	if _, err := outlook.Read(again); err != nil {
		t.Fatal(err)
	}
	first, _ := os.ReadFile(filepath.Join(s.Folder, result.Children[1].File))
	second, _ := os.ReadFile(filepath.Join(again.Folder, result.Children[1].File))
	if !bytes.Equal(first, second) {
		t.Error("the message inside is another one each time")
	}
}

func readMail(t *testing.T, path string) format.Result {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	result, err := mail.Read(source(t, data))
	if err != nil {
		t.Fatal(err)
	}
	return result
}

// plainRTF returns RTF in the container of compressed RTF.
func plainRTF(text string) []byte {
	out := binary.LittleEndian.AppendUint32(nil, uint32(len(text)+12))
	out = binary.LittleEndian.AppendUint32(out, uint32(len(text)))
	return append(append(out, "MELA\x00\x00\x00\x00"...), text...)
}

// packed returns compressed RTF. Its first word is a reference to the dictionary.
func packed(text string) []byte {
	rest := strings.TrimPrefix(text, `{\rtf1`)
	out := binary.LittleEndian.AppendUint32(nil, 0)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(text)))
	out = append(out, "LZFu\x00\x00\x00\x00"...)
	items := [][]byte{{0x00, 0x04}} // 6 bytes from the beginning
	for i := range len(rest) {
		items = append(items, []byte{rest[i]})
	}
	end := (207 + len(text)) % 4096
	items = append(items, []byte{byte(end >> 4), byte(end << 4)})
	for len(items) > 0 {
		run := items[:min(8, len(items))]
		control, body := byte(0), []byte(nil)
		for i, item := range run {
			control |= byte(len(item)-1) << i
			body = append(body, item...)
		}
		out = append(append(out, control), body...)
		items = items[len(run):]
	}
	binary.LittleEndian.PutUint32(out, uint32(len(out)-4))
	return out
}
