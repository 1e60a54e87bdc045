package e2e_test

import (
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/childserver"
)

// TestBackupOfKeptOriginals backs up an instance with an original that is encrypted under a key of its
// own, and removes the document. The original is gone there, and opens in the instance that is restored
// from the backup, which has what it had. Neither the backup nor the restored instance has its values.
func TestBackupOfKeptOriginals(t *testing.T) {
	t.Parallel()
	s := start(t)
	project := map[string]any{"slug": "redacted", "privacy": map[string]any{"pii": "redact"}}
	if status := s.call(t, "POST", webhooks+"/projects", project, nil); status >= 300 {
		t.Fatalf("project: status %d", status)
	}
	d := s.publishIn(t, "redacted", "statement", statement(), nil)
	kept := s.publishIn(t, "redacted", "another", strings.ReplaceAll(statement(), "quillobasalt", "feldspar"), nil)
	reader := s.newKey(t, map[string]any{"name": "reader", "scopes": []string{"read"}})
	s.stop() // which empties the write-ahead logs
	s.boot()
	backup, data := filepath.Join(t.TempDir(), "backup"), filepath.Join(t.TempDir(), "restored")
	succeed(t, nil, "backup", backup, "--data", s.folder)
	copied := filesBelow(t, backup)
	if !strings.Contains(strings.Join(copied, ""), "feldspar") {
		t.Error("the backup has no text of a passage, so the scan proves nothing")
	}
	wantNoMarkers(t, copied)

	s.wantOriginal(t, d, reader)
	removed, err := s.RemoveDocument(t.Context(), d)
	if err == nil {
		_, err = s.Wait(t.Context(), removed.RunID, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	if res, body := s.raw(t, "GET", "/workspaces/default/documents/"+d+"/content?version=1", "", nil); res.StatusCode != http.StatusNotFound {
		t.Errorf("the original of a removed document: status %d: %.200q", res.StatusCode, body)
	}
	if res, body := s.raw(t, "GET", "/workspaces/default/documents/"+kept+"/content?version=1", "", nil); !strings.Contains(string(body), "feldspar") {
		t.Errorf("the other original: status %d: %.200q", res.StatusCode, body)
	}
	s.stop()

	succeed(t, nil, "restore", backup, "--data", data)
	s.folder = data
	s.child = childserver.New(childserver.Config{Program: binary, Data: data, Log: s.log})
	s.boot()
	s.wantOriginal(t, d, reader)
	s.stop()
	wantNoMarkers(t, s.inFiles(t))
}

// filesBelow returns the files of a folder.
func filesBelow(t *testing.T, folder string) (contents []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		contents = append(contents, string(content))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return contents
}
