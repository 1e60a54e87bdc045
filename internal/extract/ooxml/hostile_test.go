package ooxml_test

import (
	"archive/zip"
	"io"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/container/containertest"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/extract/ooxml"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// withFile returns the path of a copy of a document in which one file has other
// content.
func withFile(t *testing.T, path, name string, content []byte) string {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = z.Close() }() // it was only read
	var files []containertest.File
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		if f.Name == name {
			data = content
		}
		files = append(files, containertest.File{Name: f.Name, Data: data})
	}
	return containertest.WriteFiles(t, files...)
}

func TestHostileWordDocuments(t *testing.T) {
	t.Parallel()
	loop := `<w:tbl><w:tr><w:tc>`
	for _, tc := range []struct {
		behaviour, archive string
		code               knowledge.Code // "" = text
	}{
		{"tables nested deeply", word(strings.Repeat(loop, 1000)+p("", "x")+strings.Repeat("</w:tc></w:tr></w:tbl>", 1000), "", ""), knowledge.CodeParseLimit},
		{"tables nested as people do", word(strings.Repeat(loop, 20)+p("", "x")+strings.Repeat("</w:tc></w:tr></w:tbl>", 20), "", ""), ""},
		{"XML that is cut off", word("<w:p><w:r><w:t>text", "", ""), knowledge.CodeCorrupt},
		{"an entity", strings.Replace(word(p("", "&x;"), "", ""), "<w:document", "<!DOCTYPE x [<!ENTITY x SYSTEM \"file:///etc/passwd\">]><w:document", 1), knowledge.CodeCorrupt},
		{"no main part", "-- word/other.xml --\n<a/>\n", knowledge.CodeCorrupt},
		{"a main part of another kind", "-- word/document.xml --\n<html/>\n", knowledge.CodeCorrupt},
		{"a template that is an address", word(p("", "x"), "t attachedTemplate http://127.0.0.1:1/template.dotm", ""), ""},
		{"relations that lead out of the document", word(p("", "x"), "s styles ../../../../etc/passwd", ""), ""},
		{"text of 40 MB", word(strings.Repeat(p("", strings.Repeat("forty megabytes ", 600)), 4000), "", ""), knowledge.CodeTooLarge},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			_, err := ooxml.Read(format.Source{Path: containertest.Write(t, tc.archive), Folder: t.TempDir()})
			if tc.code == "" && err != nil || tc.code != "" && !knowledge.IsCode(err, tc.code) {
				t.Errorf("error %v, want code %q", err, tc.code)
			}
		})
	}
}
