package e2e_test

import (
	"bytes"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// readFolder reads the files below a folder.
func readFolder(t *testing.T, folder string) []file {
	t.Helper()
	var files []file
	err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		files = append(files, file{e.Name(), content})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// isRead reports whether a file of a name is of a kind that is extracted.
func isRead(name string, content []byte) bool {
	_, err := extract.Sniff(name, "", content[:min(len(content), extract.HeadBytes)])
	return err == nil
}

func unsupportedFiles(t *testing.T, s *server) {
	others := []file{
		{"program", []byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00>\x00")},
		{"logs.gz", []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03")},
		{"page.ps", []byte("%!PS-Adobe-3.0\nshowpage\n")},
	}
	for _, f := range append(others, readFolder(t, sharedFiles(t))...) {
		if bytes.HasPrefix(f.content, []byte("PK\x03\x04")) {
			continue // an archive is imported
		}
		for _, name := range []string{f.name, "notes.txt", "report.pdf", "no-extension"} {
			if isRead(name, f.content) {
				continue
			}
			p := s.refusesFile(t, file{name, f.content}, http.StatusUnsupportedMediaType, knowledge.CodeUnsupportedFormat)
			for _, supported := range []string{"PDF", "HTML", "Markdown", "CSV", "JSON"} {
				if !strings.Contains(p.Detail, supported) {
					t.Errorf("%s: %q does not name %s", f.name, p.Detail, supported)
				}
			}
			if t.Failed() {
				t.Fatalf("that was %s under the name %s", f.name, name)
			}
		}
	}
}

func supportedFiles(t *testing.T, s *server) {
	files := slices.DeleteFunc(readFolder(t, sharedFiles(t)), func(f file) bool { return !isRead(f.name, f.content) })
	ends := make([]client.Document, len(files))
	var waiting sync.WaitGroup
	for first := 0; first < len(files); first += 100 { // a request has a limit
		for i, d := range s.sendFiles(t, map[string]string{"tags": "real"}, files[first:min(first+100, len(files))]...) {
			waiting.Go(func() { ends[first+i] = s.ended(t, d) })
		}
	}
	waiting.Wait()
	outcomes := map[string]int{}
	for i, end := range ends {
		switch {
		case end.Status == knowledge.StatusPublished && end.ChunkCount > 0:
			outcomes["published"]++
		case end.Status != knowledge.StatusError || end.Error == nil:
			t.Errorf("%s is %s, %+v", files[i].name, end.Status, end.Error)
		default:
			outcomes[string(end.Error.Code)]++
			switch end.Error.Code {
			case knowledge.CodeEmpty, knowledge.CodeEncrypted, knowledge.CodeCorrupt, knowledge.CodeMalformed, knowledge.CodeNeedsComponent:
			default:
				t.Errorf("%s failed with %+v", files[i].name, *end.Error)
			}
		}
		if files[i].name == "testMessageNews.txt" && end.Status != knowledge.StatusPublished {
			t.Errorf("testMessageNews.txt is %s, %+v", end.Status, end.Error)
		}
	}
	if outcomes["published"] < 50 {
		t.Errorf("only %v of %d files", outcomes, len(files))
	}
}
