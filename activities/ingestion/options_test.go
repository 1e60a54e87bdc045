package ingestion_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/activities/ingestion"
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
	f.IngestWith(func(d *ingestion.Dependencies) { d.Secrets = box })
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
		if _, err := do(f, f.Ingestion.ExtractDocument, ingestion.ExtractInput{StepInput: f.Upload("a.txt", text, locked(""))}); err != nil {
			t.Fatal(err)
		}
		if got := f.Parser.Last.Options; got.Password != "open sesame" || len(got.Languages) != 1 || f.Parser.Last.Folder == "" {
			t.Errorf("the parser got %+v", f.Parser.Last)
		}
	})
	t.Run("a password of another document does not open", func(t *testing.T) {
		_, err := do(f, f.Ingestion.ExtractDocument, ingestion.ExtractInput{StepInput: f.Upload("b.txt", text, locked("another document"))})
		f.FailedWith(err, knowledge.CodeEncrypted, false)
	})
}
