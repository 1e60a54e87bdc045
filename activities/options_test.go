package activities_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/secret"
	"github.com/cairn-rag/cairn/internal/store"
)

// TestOptionsOfAVersion extracts a file with what its version overrides.
func TestOptionsOfAVersion(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	box, err := secret.NewBox(secret.NewKey())
	if err != nil {
		t.Fatal(err)
	}
	f.ingestion.Secrets = box
	locked := func(context string) func(*store.NewVersion) {
		return func(nv *store.NewVersion) {
			if context == "" {
				context = nv.DocumentID
			}
			if nv.SealedPassword, err = box.Seal("open sesame", context); err != nil {
				t.Fatal(err)
			}
			nv.Override = knowledge.Override{Languages: []string{"deu"}}
		}
	}
	text := strings.Repeat("A long text. ", 30_000)

	t.Run("the parser gets the password and the languages", func(t *testing.T) {
		if _, err := do(f, f.ingestion.ExtractDocument, activities.ExtractInput{StepInput: f.upload("a.txt", text, locked(""))}); err != nil {
			t.Fatal(err)
		}
		if got := f.parser.last.Options; got.Password != "open sesame" || len(got.Languages) != 1 || f.parser.last.Folder == "" {
			t.Errorf("the parser got %+v", f.parser.last)
		}
	})
	t.Run("a password of another document does not open", func(t *testing.T) {
		_, err := do(f, f.ingestion.ExtractDocument, activities.ExtractInput{StepInput: f.upload("b.txt", text, locked("another document"))})
		f.failed(err, knowledge.CodeEncrypted, false)
	})
}
