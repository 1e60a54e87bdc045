package epub_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/container/containertest"
	"github.com/cairn-rag/cairn/internal/extract/epub"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/google/go-cmp/cmp"
)

const book = `-- META-INF/container.xml --
<container><rootfiles><rootfile full-path="OEBPS/content.opf"/></rootfiles></container>
-- OEBPS/content.opf --
<package xmlns:dc="dc"><metadata><dc:title>Tea</dc:title><dc:creator>Ann</dc:creator><dc:creator>Bob</dc:creator><dc:language>en</dc:language></metadata>
<manifest><item id="nav" href="nav.xhtml" properties="nav"/><item id="b" href="text/two%20b.xhtml"/><item id="a" href="text/one.xhtml"/><item id="gone" href="gone.xhtml"/></manifest>
<spine><itemref idref="nav"/><itemref idref="a"/><itemref idref="gone"/><itemref idref="b"/></spine></package>
-- OEBPS/nav.xhtml --
<html><body><p>One, Two</p></body></html>
-- OEBPS/text/one.xhtml --
<html><body><h1>One</h1><p>Caf&eacute; &amp; tea.</p><img src="../pot.png" alt="A pot"/></body></html>
-- OEBPS/text/two b.xhtml --
<html><body><h1>Two</h1><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table></body></html>
-- OEBPS/pot.png --
no picture
`

func TestBook(t *testing.T) {
	t.Parallel()
	result, err := epub.Read(format.Source{Path: containertest.Write(t, book), Folder: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range result.Layout.Blocks {
		got = append(got, string(b.Kind)+" "+b.Text)
	}
	want := []string{"heading One", "paragraph Café & tea.", "figure A pot", "heading Two", "table | a | b |\n| --- | --- |\n| 1 | 2 |"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]string{"author": "Ann, Bob", "language": "en"}, result.Layout.Metadata); diff != "" || result.Layout.Title != "Tea" {
		t.Errorf("title %q, metadata %s", result.Layout.Title, diff)
	}
}

func TestHostileBooks(t *testing.T) {
	t.Parallel()
	for behaviour, tc := range map[string]struct {
		archive string
		code    knowledge.Code
	}{
		"protected against copying": {book + `-- META-INF/encryption.xml --
<encryption><EncryptedData><CipherData><CipherReference URI="OEBPS/text/one.xhtml"/></CipherData></EncryptedData></encryption>
`, knowledge.CodeEncrypted},
		"no list of chapters":            {"-- mimetype --\napplication/epub+zip\n", knowledge.CodeCorrupt},
		"a list of chapters that is cut": {"-- a.opf --\n<package><spine>", knowledge.CodeCorrupt},
	} {
		t.Run(behaviour, func(t *testing.T) {
			t.Parallel()
			if _, err := epub.Read(format.Source{Path: containertest.Write(t, tc.archive)}); !knowledge.IsCode(err, tc.code) {
				t.Errorf("error %v, want code %s", err, tc.code)
			}
		})
	}
}
