package ingestion_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// TestAttachments extracts a file with attachments, which become documents of their
// own.
func TestAttachments(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Parser.Children = []string{"notes.txt", "notes.txt", "../../etc/passwd"}
	in := f.Upload("mail.eml", strings.Repeat("A long text. ", 30_000))
	for range 2 { // the second time the layout is lost, as after a crash
		if _, err := do(f, f.Ingestion.ExtractDocument, ingestion.ExtractInput{StepInput: in}); err != nil {
			t.Fatal(err)
		}
		if _, err := f.Blobs.DeletePrefix(t.Context(), blob.VersionPrefix(in.VersionRef), nil); err != nil {
			t.Fatal(err)
		}
	}
	var names []string
	documents := map[string]bool{}
	for _, v := range f.Workflows.Ingests {
		if documents[v.Document] {
			continue
		}
		documents[v.Document] = true
		d, err := f.Store.Document(t.Context(), activitytest.Manager(), v.Document)
		if err != nil {
			t.Fatal(err)
		}
		if d.ParentID != in.Document || d.Version != 1 || d.Status != knowledge.StatusPending {
			t.Errorf("attachment %+v", d)
		}
		names = append(names, d.Name)
	}
	if slices.Sort(names); !slices.Equal(names, []string{"notes.txt", "notes.txt", "passwd"}) {
		t.Errorf("documents %q", names)
	}
}
