package intake_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/cairn-rag/cairn/internal/intake"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// TestPasswordOfAFile stores the password of an encrypted file sealed, and forgets it
// when the version ends.
func TestPasswordOfAFile(t *testing.T) {
	t.Parallel()
	const password = "correct horse battery staple"
	f := open(t)
	text := "locked"
	taken, err := f.intake.Take(t.Context(), f.editor, f.project, intake.Run{ID: knowledge.NewID()}, intake.Document{
		Name: "a.txt", Content: intake.Content{Text: &text},
		Attributes: intake.Attributes{Password: password, Override: knowledge.Override{Languages: []string{"deu"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ref := f.starts[0].VersionRef
	v, err := f.store.Version(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := f.secrets.Open(v.SealedPassword, taken.Document.ID); err != nil || plain != password {
		t.Errorf("the ingestion opens %q, %v", plain, err)
	}
	f.nowhere(password)

	if err := f.store.FailVersion(t.Context(), ref, v.RunID, knowledge.DocumentError{Code: knowledge.CodeCorrupt}); err != nil {
		t.Fatal(err)
	}
	if v, err = f.store.Version(t.Context(), ref); err != nil || v.SealedPassword != "" || len(v.Override.Languages) != 1 {
		t.Errorf("a version that has ended keeps %q and %+v, %v", v.SealedPassword, v.Override, err)
	}
}

// nowhere fails the test if a file of the stores contains the text.
func (f *fixture) nowhere(text string) {
	f.t.Helper()
	err := filepath.WalkDir(f.folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if bytes.Contains(data, []byte(text)) {
			f.t.Errorf("%s contains the text", filepath.Base(path))
		}
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
}
