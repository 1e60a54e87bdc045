package extract_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// withoutOrigin leaves out where blocks come from, which has tests of its own.
var withoutOrigin = cmpopts.IgnoreFields(knowledge.Block{}, "Origin")

// codeByName are the codes of the shared files of supported kinds that cannot
// be extracted.
var codeByName = map[string]knowledge.Code{
	"autoprint.pdf": knowledge.CodeEmpty, "bug1889122.pdf": knowledge.CodeEmpty, "cmyk-image.pdf": knowledge.CodeEmpty,
	"colorkeymask.pdf": knowledge.CodeEmpty, "grayscale-image.pdf": knowledge.CodeEmpty,
	"imagemagick-ASCII85Decode.pdf": knowledge.CodeEmpty, "imagemagick-CCITTFaxDecode.pdf": knowledge.CodeEmpty,
	"imagemagick-images.pdf": knowledge.CodeEmpty, "imagemagick-lzw.pdf": knowledge.CodeEmpty,
	"issue13271.pdf": knowledge.CodeEmpty, "issue17065.pdf": knowledge.CodeEmpty, "issue2177.pdf": knowledge.CodeEmpty,
	"issue6081.pdf": knowledge.CodeEmpty,
	"baseball.jpg":  knowledge.CodeEmpty, "baseball.png": knowledge.CodeEmpty, "testGIF.gif": knowledge.CodeEmpty,
	"testJPEG_EXIF_emptyDateTime.jpg": knowledge.CodeEmpty, "testJPEG_MicroVideo.jpg": knowledge.CodeEmpty,
	"testOCR_encode.jpg": knowledge.CodeCorrupt, "testOCR_encode.png": knowledge.CodeEmpty,
	"testPNG.png": knowledge.CodeEmpty, "testTIFF.tif": knowledge.CodeEmpty,
	"testWORD_truncated.docx":   knowledge.CodeCorrupt,
	"protected_upper_case.docx": knowledge.CodeEncrypted, "testPPT_protected_passtika.pptx": knowledge.CodeEncrypted,
	"testODTEncrypted.odt": knowledge.CodeEncrypted, "testODPMacro.odp": knowledge.CodeEmpty,
	"testUserDefinedCharset.mhtml": knowledge.CodeEmpty, // cut off before its page
	"bug1782186.pdf":               knowledge.CodeEncrypted, "libreoffice-writer-password.pdf": knowledge.CodeEncrypted,
}

func TestEverySharedFileEndsAsStated(t *testing.T) {
	t.Parallel()
	paths := allFiles(t)
	pool, _ := newPool(t, extract.PoolConfig{Size: 2, Timeout: time.Minute, Tools: installedTools(t)})
	var counts counts
	t.Run("files", func(t *testing.T) {
		for _, path := range paths {
			t.Run(filepath.Join(filepath.Base(filepath.Dir(path)), filepath.Base(path)), func(t *testing.T) {
				t.Parallel()
				counts.add(path, endsAsStated(t, pool, path))
			})
		}
	})
	counts.compare(t)
}

// endsAsStated extracts a shared file and reports whether it becomes text. It fails if
// it should end otherwise.
func endsAsStated(t *testing.T, pool *extract.Pool, path string) bool {
	t.Helper()
	base := filepath.Base(path)
	result, err := pool.Extract(t.Context(), extract.Input{Name: base, Path: path, Folder: t.TempDir()})
	kind, _ := extract.FormatOf(typeOfShared(path))
	switch code := codeByName[base]; {
	case kind.IsSpeech: // the parser only cuts it
		if err == nil && len(result.Assets) == 0 {
			t.Error("it was cut into no parts")
		}
		if err != nil && !knowledge.IsCode(err, knowledge.CodeNeedsComponent) && !knowledge.IsCode(err, knowledge.CodeCorrupt) {
			t.Error(err)
		}
	case knowledge.IsCode(err, knowledge.CodeNeedsComponent):
		skipOrFail(t, err.Error())
	case code != "":
		wantCode(t, err, code)
	case kind.IsRead():
		if err != nil {
			t.Fatalf("Extract: %v", err)
		}
		wantSound(t, result.Layout, filepath.Base(filepath.Dir(path)) == "office")
	default:
		wantCode(t, err, knowledge.CodeUnsupportedFormat)
	}
	return err == nil
}

// wantSound checks what must hold for every layout. The lines of an office document are from
// the PDF that LibreOffice makes of it, which may lack some of its text.
func wantSound(t *testing.T, layout knowledge.Layout, office bool) {
	t.Helper()
	if layout.MediaType == "" || len(layout.Blocks) == 0 {
		t.Errorf("layout of type %q with %d blocks", layout.MediaType, len(layout.Blocks))
	}
	sizes := map[int]knowledge.PageSize{}
	for _, p := range layout.Pages {
		sizes[p.Page] = p
	}
	for i, b := range layout.Blocks {
		switch {
		case strings.TrimSpace(b.Text) == "" && b.Figure == "":
			t.Errorf("block %d is empty", i)
		case !utf8.ValidString(b.Text) || strings.ContainsFunc(b.Text, control):
			t.Errorf("block %d has control characters or is not UTF-8: %q", i, b.Text)
		case b.Kind == knowledge.BlockHeading && (b.Level < 1 || b.Level > 6):
			t.Errorf("heading %d has level %d", i, b.Level)
		}
		if err := linesLieIn(b, sizes, office); err != nil {
			t.Errorf("block %d: %v", i, err)
		}
	}
}

func control(r rune) bool { return r < 0x20 && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 }

// linesLieIn checks that lines are in order, do not overlap, lie in the text
// and on their pages, and that only separators are between them, unless there may be gaps.
func linesLieIn(b knowledge.Block, sizes map[int]knowledge.PageSize, gaps bool) error {
	runes, at := []rune(b.Text), 0
	for _, l := range b.Lines {
		size, ok := sizes[l.Page]
		switch {
		case l.Start < at || l.End < l.Start || l.End == l.Start && b.Figure == "" || l.End > len(runes):
			return fmt.Errorf("line [%d,%d) after %d in a text of %d", l.Start, l.End, at, len(runes))
		case !gaps && strings.Trim(string(runes[at:l.Start]), " |-\n") != "":
			return fmt.Errorf("%q is on no line", string(runes[at:l.Start]))
		case !ok || l.Box.X1 < 0 || l.Box.Y1 < 0 || l.Box.X2 > size.Width || l.Box.Y2 > size.Height ||
			l.Box.X1 >= l.Box.X2 || l.Box.Y1 >= l.Box.Y2:
			return fmt.Errorf("box %v on page %+v", l.Box, size)
		}
		at = l.End
	}
	if !gaps && len(b.Lines) > 0 && strings.Trim(string(runes[at:]), " |-\n") != "" {
		return fmt.Errorf("%q is on no line", string(runes[at:]))
	}
	return nil
}

func TestBadInputEndsAsStated(t *testing.T) {
	t.Parallel()
	pool, _ := newPool(t, extract.PoolConfig{Size: 2, Timeout: 30 * time.Second})
	hello := onePage([]byte("BT /F 12 Tf 20 100 Td (Hello, world.) Tj ET"), "")
	for _, tc := range []struct {
		behaviour, name string
		content         []byte
		code            knowledge.Code // "" = a layout
	}{
		{"an empty file", "a.txt", nil, knowledge.CodeEmpty},
		{"white space", "a.txt", []byte(" \r\n\t "), knowledge.CodeEmpty},
		{"invisible characters", "a.txt", []byte("\u200b\n\u00ad"), knowledge.CodeEmpty},
		{"a page of invisible characters", "a.html", []byte("<p>&shy;<p>&ZeroWidthSpace;"), knowledge.CodeEmpty},
		{"a page without text", "a.html", []byte("<!doctype html><title>x</title><script>alert(1)</script>"), knowledge.CodeEmpty},
		{"JSON without a value", "a.json", []byte("{}"), knowledge.CodeEmpty},
		{"UTF-8 with a wrong byte", "a.txt", []byte("Das Büro öffnet für Gäste, hört man. \xff"), knowledge.CodeMalformed},
		{"bytes that are not text", "a.txt", []byte("\x00\x01\xff\xfe\x02"), knowledge.CodeMalformed},
		{"UTF-16 without a mark", "a.txt", []byte("h\x00e\x00l\x00l\x00\xe9\x00"), ""},
		{"JSON that is cut off", "a.json", []byte(`{"a": [1, 2`), knowledge.CodeMalformed},
		{"two JSON values", "a.json", []byte(`{"a":1} {"b":2}`), knowledge.CodeMalformed},
		{"JSON nested deeply", "a.json", []byte(strings.Repeat(`[`, 100_000) + strings.Repeat(`]`, 100_000)), knowledge.CodeParseLimit},
		{"a line that is not JSON", "a.jsonl", []byte("{\"a\":1}\nnonsense\n"), knowledge.CodeMalformed},
		{"text of 50 MB", "a.txt", bytes.Repeat([]byte("Fifty megabytes of it.\n\n"), 50<<20/24), knowledge.CodeTooLarge},
		{"a sound PDF", "a.pdf", hello, ""},
		{"a truncated PDF", "a.pdf", hello[:60], knowledge.CodeCorrupt},
		{"garbage that says it is a PDF", "a.pdf", []byte("%PDF-1.7\n" + strings.Repeat("garbage ", 100)), knowledge.CodeCorrupt},
		{"a PDF of a picture", "a.pdf", onePage([]byte("0 0 m 100 100 l S"), ""), knowledge.CodeEmpty},
		{"a PDF that inflates to 600 MB", "a.pdf",
			onePage(deflated(bytes.Repeat([]byte("BT /F 9 Tf (x) Tj ET\n"), 50_000), 600, true), "/Filter [/FlateDecode /FlateDecode]"),
			knowledge.CodeParseLimit},
		{"a PDF of 100,000 pages", "a.pdf", manyPages(5), knowledge.CodeParseLimit},
		{"a PDF that claims a billion pages", "a.pdf", manyPages(9), knowledge.CodeParseLimit},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			result, err := pool.Extract(t.Context(), extract.Input{Name: tc.name, Path: write(t, "upload", tc.content)})
			if tc.code != "" {
				wantCode(t, err, tc.code)
				return
			}
			if err != nil {
				t.Fatalf("Extract: %v", err)
			}
			wantSound(t, result.Layout, false)
		})
	}
}

// manyPages returns a PDF of 10^levels pages, which are all the same object.
func manyPages(levels int) []byte {
	objects := []string{"<< /Type /Catalog /Pages 2 0 R >>"}
	count := 1
	for range levels {
		count *= 10
	}
	for i := range levels {
		kids := strings.Repeat(fmt.Sprintf("%d 0 R ", i+3), 10)
		objects = append(objects, fmt.Sprintf("<< /Type /Pages /Count %d /Kids [%s] >>", count, kids))
		count /= 10
	}
	return makePDF(append(objects, "<< /Type /Page /MediaBox [0 0 300 200] >>")...)
}

func TestErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	pool, _ := newPool(t, extract.PoolConfig{Size: 1})
	path := write(t, "secret-place", []byte("%PDF-1.7\ngarbage"))
	_, err := pool.Extract(t.Context(), extract.Input{Name: "a.pdf", Path: path})
	e, ok := errors.AsType[*knowledge.Error](err)
	if !ok {
		t.Fatalf("error %v, want a *knowledge.Error", err)
	}
	if strings.Contains(e.Message, path) || !strings.Contains(e.Message, "send") {
		t.Errorf("message %q", e.Message)
	}
	_, err = pool.Extract(t.Context(), extract.Input{Name: "a.pdf", Path: filepath.Join(t.TempDir(), "missing")})
	if got := knowledge.AsError(err); got.Code != knowledge.CodeInternal || strings.Contains(got.Message, "missing") {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestDeclaredMediaType(t *testing.T) {
	t.Parallel()
	pool, _ := newPool(t, extract.PoolConfig{Size: 1})
	for _, tc := range []struct {
		behaviour string
		in        extract.Input
		content   string
		want      knowledge.Layout
	}{
		{"a declared character set is honoured", extract.Input{Name: "a.txt", MediaType: "text/plain; charset=windows-1252"},
			"caf\xe9", knowledge.Layout{MediaType: extract.TypeText, Blocks: []knowledge.Block{{Kind: knowledge.BlockParagraph, Text: "café"}}}},
		{"a character set that Sniff returned is honoured", extract.Input{Name: "page", MediaType: "text/html; charset=windows-1252"},
			"<p>caf\xe9", knowledge.Layout{MediaType: extract.TypeHTML, Blocks: []knowledge.Block{{Kind: knowledge.BlockParagraph, Text: "café"}}}},
		{"another character set is detected and named", extract.Input{Name: "a.csv"}, "Name;Stra\xdfe\nM\xfcller;Hauptstra\xdfe 3\n",
			knowledge.Layout{MediaType: extract.TypeCSV, Metadata: map[string]string{"assumed_charset": "windows-1252"},
				Blocks: []knowledge.Block{{Kind: knowledge.BlockTable, Text: "| Name | Straße |\n| --- | --- |\n| Müller | Hauptstraße 3 |", Header: "| Name | Straße |\n| --- | --- |"}}}},
		{"a declared kind counts where the name says nothing", extract.Input{Name: "notes", MediaType: extract.TypeMarkdown},
			"# Tea", knowledge.Layout{MediaType: extract.TypeMarkdown, Title: "Tea", Blocks: []knowledge.Block{{Kind: knowledge.BlockHeading, Level: 1, Text: "Tea"}}}},
		{"the name counts more", extract.Input{Name: "notes.txt", MediaType: extract.TypeMarkdown},
			"# Tea", knowledge.Layout{MediaType: extract.TypeText, Blocks: []knowledge.Block{{Kind: knowledge.BlockParagraph, Text: "# Tea"}}}},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			tc.in.Path = write(t, "upload", []byte(tc.content))
			got, err := pool.Extract(t.Context(), tc.in)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got.Layout, withoutOrigin); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestInvisibleCharactersAreRemoved(t *testing.T) {
	t.Parallel()
	pool, _ := newPool(t, extract.PoolConfig{Size: 1})
	for name, content := range map[string]string{
		"a.txt":  "Öffnungs\u00adzeiten",
		"a.md":   "Öffnungs&shy;\u200bzeiten",
		"a.html": "<p>Öffnungs&shy;<b>&#x200b;zeiten&NoBreak;</b>",
		"a.csv":  "Öffnungs\u00adzeiten\u2060",
		"a.json": `"Öffnungs\u00adzeiten"`,
		"a.go":   "Öffnungs\ufeffzeiten",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, err := pool.Extract(t.Context(), extract.Input{Name: name, Path: write(t, "upload", []byte(content))})
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Trim(result.Layout.Blocks[0].Text, "| "); got != "Öffnungszeiten" { // a table has bars
				t.Errorf("text %q", got)
			}
		})
	}
}

// TestSameFileSameLayout extracts one file twice and compares the layouts.
func TestSameFileSameLayout(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join(sharedFiles, "pdf", "multicolumn.pdf"))
	if err != nil {
		skipOrFail(t, noFiles)
	}
	pool, _ := newPool(t, extract.PoolConfig{Size: 1, DocumentsPerChild: 1})
	in := extract.Input{Name: "a.pdf", Path: write(t, "upload", data)}
	first, err := pool.Extract(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	second, err := pool.Extract(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, second); diff != "" {
		t.Error(diff)
	}
}
