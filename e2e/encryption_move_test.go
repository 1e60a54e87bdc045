package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestEncryptedBackupAndMove restores a backup of an encrypted instance, and moves it into one with
// another master key.
func TestEncryptedBackupAndMove(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	variable, _ := encryptedBy(t)
	s := start(t, at(m.URL(), variable)...)
	s.tellSecrets(t, m)
	backup, data := filepath.Join(t.TempDir(), "backup"), filepath.Join(t.TempDir(), "data")
	if code, out, stderr := command(t, []string{variable}, "backup", backup, "--data", s.folder); code != 0 || !strings.Contains(out, "The master key") {
		t.Fatalf("backup: code %d: %s%s", code, out, stderr)
	}
	s.stop()
	if code, out, stderr := command(t, nil, "restore", backup, "--data", data); code != 0 || !strings.Contains(out, "encryption.key_file") {
		t.Fatalf("restore: code %d: %s%s", code, out, stderr)
	}
	s.bootIn(data, at(m.URL(), variable)...)
	s.wantReadable(t, m)
	if found := s.wordsIn(t); len(found) > 0 {
		t.Errorf("%d secret words are readable, such as %s", len(found), found[0])
	}
	s.stop()

	moved, file := filepath.Join(t.TempDir(), "moved"), filepath.Join(t.TempDir(), "instance.cairn")
	if code, _, stderr := command(t, nil, "export", file, "--data", data); code == 0 || !strings.Contains(stderr, "set encryption.key_file") {
		t.Errorf("an export without the key: code %d: %s", code, stderr)
	}
	if code, _, stderr := command(t, []string{variable}, "export", file, "--data", data); code != 0 {
		t.Fatalf("export: code %d: %s", code, stderr)
	}
	secret, err := os.ReadFile(filepath.Join(data, "secret.key"))
	if err == nil {
		err = os.MkdirAll(moved, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(moved, "secret.key"), secret, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	other, _ := encryptedBy(t)
	if code, _, stderr := command(t, []string{other}, "import-instance", file, "--data", moved); code != 0 {
		t.Fatalf("import-instance: code %d: %s", code, stderr)
	}
	s.bootIn(moved, at(m.URL(), other)...)
	if text := s.bodyOf(t, "/workspaces/default/documents/"+s.idOf(t, "station-50")+"/content"); !strings.Contains(text, secretWord(50)) {
		t.Errorf("the original is %.100q", text)
	}
	if found := s.wordsIn(t); len(found) > 0 {
		t.Errorf("%d secret words are readable, such as %s", len(found), found[0])
	}
}
