package e2e_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// wantOriginal checks that the original of a version has the text of the statement, as a whole and
// in part, for those with the write scope alone.
func (s *server) wantOriginal(t *testing.T, document, reader string) {
	t.Helper()
	own := "/workspaces/default/documents/" + document
	if res, body := s.raw(t, "GET", own+"/content?version=1", "", nil); string(body) != statement() {
		t.Errorf("the original: status %d: %.200q", res.StatusCode, body)
	}
	res, part := s.raw(t, "GET", own+"/content?version=1", "", nil, "Range", "bytes=100-149")
	if res.StatusCode != http.StatusPartialContent || string(part) != statement()[100:150] {
		t.Errorf("fifty bytes of the original: status %d: %q", res.StatusCode, part)
	}
	as := []string{"Authorization", "Bearer " + reader}
	if res, body := s.raw(t, "GET", own+"/content?version=1", "", nil, as...); res.StatusCode != http.StatusForbidden {
		t.Errorf("a reader gets the original: status %d: %.200q", res.StatusCode, body)
	}
	if res, _ := s.raw(t, "GET", own, "", nil, as...); res.StatusCode != http.StatusOK {
		t.Errorf("a reader gets the document: status %d", res.StatusCode)
	}
}

// TestKeptOriginal keeps the originals of a project that redacts: no file of the server has their
// values, before encryption at rest is on, over a rotation of its keys, and in a move to an
// instance that encrypts nothing else. A hold keeps the original of a version that is replaced.
func TestKeptOriginal(t *testing.T) {
	t.Parallel()
	s := start(t)
	project := map[string]any{"slug": "redacted", "privacy": map[string]any{"pii": "redact"}}
	if status := s.call(t, "POST", webhooks+"/projects", project, nil); status >= 300 {
		t.Fatalf("project: status %d", status)
	}
	d := s.publishIn(t, "redacted", "statement", statement(), nil)
	reader := s.newKey(t, map[string]any{"name": "reader", "scopes": []string{"read"}})
	s.wantOriginal(t, d, reader)
	if status := s.call(t, "POST", "/workspaces/default/holds", map[string]any{"name": "Smith v. Acme", "reason": "notice", "document_ids": []string{d}}, nil); status != http.StatusCreated {
		t.Fatalf("hold: status %d", status)
	}
	s.publishIn(t, "redacted", "statement", strings.ReplaceAll(statement(), "quillobasalt", "feldspar"), nil)
	s.wantOriginal(t, d, reader)
	s.stop() // which empties the write-ahead logs
	wantNoMarkers(t, s.inFiles(t))

	variable, _ := encryptedBy(t)
	s.bootIn(s.folder, variable)
	former := s.awaitSealed(t, "")
	if code, _, stderr := command(t, []string{"CAIRN_URL=" + s.ends.API, "CAIRN_KEY=" + s.key}, "keys", "rotate"); code != 0 {
		t.Fatalf("keys rotate: exit code %d, %s", code, stderr)
	}
	s.awaitSealed(t, former.DataKey)
	s.wantOriginal(t, d, reader)
	s.stop()

	moved, file := filepath.Join(t.TempDir(), "moved"), filepath.Join(t.TempDir(), "instance.cairn")
	if code, _, stderr := command(t, []string{variable}, "export", file, "--data", s.folder); code != 0 {
		t.Fatalf("export: exit code %d: %s", code, stderr)
	}
	exported, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(exported), "feldspar") {
		t.Fatalf("the export has no text of a passage, so the scan proves nothing: %v", err)
	}
	wantNoMarkers(t, []string{string(exported)})
	secret, err := os.ReadFile(filepath.Join(s.folder, "secret.key"))
	if err == nil {
		err = os.MkdirAll(moved, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(moved, "secret.key"), secret, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := command(t, nil, "import-instance", file, "--data", moved); code != 0 {
		t.Fatalf("import-instance: exit code %d: %s", code, stderr)
	}
	s.bootIn(moved)
	s.wantOriginal(t, d, reader)
	s.stop()
	wantNoMarkers(t, s.inFiles(t))
}
