// Package containertest builds the ZIP files that office documents are, for tests.
package containertest

import (
	"archive/zip"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"
)

// Write writes a document with the files of a txtar archive, and returns its
// path.
func Write(t testing.TB, archive string) string {
	t.Helper()
	var files []File
	for _, f := range txtar.Parse([]byte(archive)).Files {
		files = append(files, File{f.Name, f.Data})
	}
	return WriteFiles(t, files...)
}

// File is a file of a document.
type File struct {
	Name string
	Data []byte
}

// WriteFiles writes a document with these files, and returns its path. Two files may
// have the same name.
func WriteFiles(t testing.TB, files ...File) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "document")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(out)
	for _, f := range files {
		w, err := z.Create(f.Name)
		if err == nil {
			_, err = w.Write(f.Data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}
