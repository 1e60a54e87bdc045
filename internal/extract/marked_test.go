package extract_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// TestMarkedTexts reads texts in AsciiDoc and LaTeX as they are uploaded.
func TestMarkedTexts(t *testing.T) {
	t.Parallel()
	pool, _ := newPool(t, extract.PoolConfig{Size: 1})
	for _, tc := range []struct{ name, content, kind string }{
		{"a.adoc", "= The pump\nAnn\n\ninclude::a.adoc[]\n", extract.TypeAsciiDoc},
		{"a.txt", "= The pump\nAnn\n:toc:\n\ninclude::a.adoc[]\n", extract.TypeAsciiDoc},
		{"a.tex", "\\title{The pump}\\author{Ann}\\begin{document}\\maketitle\\input{a}\\end{document}", extract.TypeLaTeX},
		{"a.pdf", "\\documentclass{a}\\title{The pump}\\author{Ann}\\begin{document}\\maketitle\\include{a}\\end{document}", extract.TypeLaTeX},
	} {
		result, err := pool.Extract(t.Context(), extract.Input{Name: tc.name, Path: write(t, "upload", []byte(tc.content))})
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		l := result.Layout
		if l.MediaType != tc.kind || l.Title != "The pump" || l.Metadata["author"] != "Ann" || len(l.Warnings) != 1 || l.Warnings[0].Code != knowledge.WarnIncludes {
			t.Errorf("%s: %s %q %v %v", tc.name, l.MediaType, l.Title, l.Metadata, l.Warnings)
		}
	}
	for _, tc := range []struct {
		name, content string
		code          knowledge.Code
	}{
		{"a.adoc", " \n", knowledge.CodeEmpty}, {"a.tex", "", knowledge.CodeEmpty}, {"a.adoc", "// a comment\n", knowledge.CodeEmpty},
		{"a.tex", "\\documentclass{article}", knowledge.CodeEmpty},
	} {
		_, err := pool.Extract(t.Context(), extract.Input{Name: tc.name, Path: write(t, "upload", []byte(tc.content))})
		wantCode(t, err, tc.code)
	}
}
