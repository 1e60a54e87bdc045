package xml_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/extracttest"
	"github.com/cairn-rag/cairn/internal/extract/xml"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/google/go-cmp/cmp"
)

// describe returns the title of a layout, and each block with its kind, its level and
// its lines.
func describe(layout knowledge.Layout) string {
	var b strings.Builder
	fmt.Fprintf(&b, "title: %s\n", layout.Title)
	for _, block := range layout.Blocks {
		b.WriteString(string(block.Kind))
		if block.Level > 0 {
			fmt.Fprintf(&b, " %d", block.Level)
		}
		fmt.Fprintf(&b, " %d", block.Origin.First)
		if block.Origin.Last > block.Origin.First {
			fmt.Fprintf(&b, "-%d", block.Origin.Last)
		}
		b.WriteString(": " + block.Text + "\n")
	}
	return b.String()
}

func TestRead(t *testing.T) {
	t.Parallel()
	extracttest.EachSample(t, func(t *testing.T, files map[string]string) {
		layout, err := xml.Read([]byte(files["document.xml"]), "")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(files["layout.txt"], describe(layout)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestCharacterSets(t *testing.T) {
	t.Parallel()
	for behaviour, tc := range map[string]struct{ document, declared string }{
		"UTF-8":                           {"<a>café</a>", ""},
		"as the document says":            {"<?xml version='1.0' encoding='ISO-8859-1'?><a>caf\xe9</a>", ""},
		"as the upload says":              {"<a>caf\xe9</a>", "windows-1252"},
		"UTF-8 that says something else":  {"<?xml version='1.0' encoding='ISO-8859-1'?><a>café</a>", ""},
		"UTF-16 with a mark, as it says":  {"\xff\xfe<\x00a\x00>\x00c\x00a\x00f\x00\xe9\x00<\x00/\x00a\x00>\x00", ""},
		"a character set that is unknown": {"<?xml version='1.0' encoding='mine'?><a>café</a>", ""},
	} {
		layout, err := xml.Read([]byte(tc.document), tc.declared)
		if err != nil || len(layout.Blocks) != 1 || layout.Blocks[0].Text != "a: café" {
			t.Errorf("%s: %v, %v", behaviour, layout.Blocks, err)
		}
	}
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	layout, err := xml.Read([]byte(`<m xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>Tea</dc:title><dc:creator>Ann Lee</dc:creator><date>today</date></m>`), "")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]string{"author": "Ann Lee"}, layout.Metadata); diff != "" || layout.Title != "Tea" {
		t.Errorf("title %q, %s", layout.Title, diff)
	}
}

func TestHostileDocuments(t *testing.T) {
	t.Parallel()
	laughs := `<!DOCTYPE a [<!ENTITY l0 "lol">`
	for i := range 9 {
		laughs += fmt.Sprintf(`<!ENTITY l%d "%s">`, i+1, strings.Repeat(fmt.Sprintf("&l%d;", i), 10))
	}
	long := `<!DOCTYPE a [<!ENTITY l "` + strings.Repeat("lol", 100_000) + `">]><a>` + strings.Repeat("&l;", 10_000) + `</a>`
	for behaviour, tc := range map[string]struct {
		document string
		code     knowledge.Code
	}{
		"entities of entities":    {laughs + `]><a>&l9;</a>`, knowledge.CodeParseLimit},
		"a long entity":           {long, knowledge.CodeTooLarge},
		"an entity of a file":     {`<!DOCTYPE a [<!ENTITY f SYSTEM "file:///etc/passwd">]><a>&f;</a>`, knowledge.CodeParseLimit},
		"an entity of an address": {`<!DOCTYPE a [<!ENTITY % p SYSTEM "http://example.com/x.dtd"> %p;]><a>&f;</a>`, knowledge.CodeParseLimit},
		"elements in each other":  {strings.Repeat("<a>", 100_000), knowledge.CodeParseLimit},
		"many elements":           {"<a>" + strings.Repeat("<b/>", 3_000_000) + "</a>", knowledge.CodeParseLimit},
		"a document that is cut":  {"<a><b>text</b>", knowledge.CodeCorrupt},
		"no element":              {"<?xml version='1.0'?>", knowledge.CodeEmpty},
		"bytes of no text":        {"<a>\xff\xfe\xfd</a>", knowledge.CodeMalformed},
		"many columns":            {"<a>" + wide("r", 3000) + wide("r", 3000) + "</a>", ""},
		"many attributes":         {"<a><b " + strings.Repeat("x='1' ", 50_000) + "/></a>", ""},
	} {
		t.Run(behaviour, func(t *testing.T) {
			t.Parallel()
			layout, err := xml.Read([]byte(tc.document), "")
			if tc.code == "" && err != nil || tc.code != "" && !knowledge.IsCode(err, tc.code) {
				t.Errorf("error %v, want code %q", err, tc.code)
			}
			total := 0
			for _, b := range layout.Blocks {
				total += len(b.Text)
			}
			if total > 2*len(tc.document) {
				t.Errorf("%d bytes of text from %d", total, len(tc.document))
			}
		})
	}
}

func wide(name string, columns int) string {
	var b strings.Builder
	b.WriteString("<" + name + ">")
	for i := range columns {
		fmt.Fprintf(&b, "<c%d>x</c%d>", i, i)
	}
	return b.String() + "</" + name + ">"
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("<a><b c='d'>e</b><b>f</b></a>"))
	f.Add([]byte("<rss><channel><item><title>x</title></item></channel></rss>"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := xml.Read(data, "")
		if err != nil && knowledge.AsError(err).Code == knowledge.CodeInternal {
			t.Error(err)
		}
	})
}
