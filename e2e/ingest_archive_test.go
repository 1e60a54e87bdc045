package e2e_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// writeArchive writes a zip of files, each with a text or, as .pdf, with what cannot be read, and returns its path.
func writeArchive(t *testing.T, name string, files ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	var members []member
	for _, file := range files {
		text := "A text about " + file + "."
		if filepath.Ext(file) == ".pdf" {
			text = "%PDF-1.7\n" + text // which is no page
		}
		members = append(members, member{file, text})
	}
	if err := os.WriteFile(path, pack(t, members...), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestArchiveCountsItsFiles ingests archives: each of their files counts.
func TestArchiveCountsItsFiles(t *testing.T) {
	t.Parallel()
	s := start(t)
	env := []string{"CAIRN_URL=" + s.ends.API, "CAIRN_KEY=" + s.key}
	beside := filepath.Join(t.TempDir(), "beside.txt")
	if err := os.WriteFile(beside, []byte("A text beside the archive."), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, said := command(t, env, "ingest", writeArchive(t, "notes.zip", "a.txt", "b.txt", "c/d.txt"), beside)
	if code != 0 || !strings.Contains(said, "4 accepted, 0 skipped, 0 failed") || !strings.Contains(out, ", 3 files") {
		t.Errorf("without --wait: exit code %d, %s%s", code, out, said)
	}
	code, out, said = command(t, env, "ingest", writeArchive(t, "mixed.zip", "e.txt", "f.txt", "broken.pdf"), "--wait")
	if code != 1 || !strings.Contains(said, "2 published, 0 skipped, 1 failed") || !strings.Contains(said, "1 of 3 documents failed") {
		t.Errorf("with --wait: exit code %d, %s%s", code, out, said)
	}
	code, out, _ = command(t, env, "ingest", writeArchive(t, "sound.zip", "g.txt", "h.txt"), "--wait", "-o", "json")
	var got struct{ Accepted, Published, Failed int }
	if err := json.Unmarshal([]byte(out), &got); err != nil || code != 0 || got.Published != 2 || got.Accepted != 0 || got.Failed != 0 {
		t.Errorf("as JSON: exit code %d, %v: %s", code, err, out)
	}
}
