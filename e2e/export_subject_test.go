package e2e_test

import (
	"archive/zip"
	"bytes"
	"io"
	"strings"
	"testing"
)

// unzipped returns the files of a zip, in lower case.
func unzipped(t *testing.T, archive []byte) map[string][]byte {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string][]byte{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		texts[f.Name] = append(bytes.ToLower(data), strings.ToLower("\n"+f.Name)...)
	}
	return texts
}

// wantExported checks that an export has what the person left, in the words of the person.
func wantExported(t *testing.T, p *somebody, texts map[string][]byte) {
	t.Helper()
	left := strings.Join(p.left(texts), "\n")
	for word, place := range p.words {
		switch place {
		case "idempotency key", "patched tag", "version of a document", "name of an archive", "steering message", "answer of an evaluation", "query of a tool":
			continue
		}
		if !strings.Contains(left, word) {
			t.Errorf("the export lacks %s (%s)", word, place)
		}
	}
}
