package e2e_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/cairn-rag/cairn/internal/client"
)

// TestImportHistories imports objects with a pause in between and retries what failed:
// the histories contain neither names nor words of the objects.
func TestImportHistories(t *testing.T) {
	t.Parallel()
	b := newBucket(t)
	const objects = 120
	b.fill("notes/", objects)
	b.put("notes/empty.txt", "")
	b.put("notes/long.txt", strings.Repeat("The lighthouse has a catadioptric assembly. ", 5000))
	b.slow(150 * time.Millisecond)
	s := startForImports(t)
	i := s.begin(t, client.NewImport{Source: b.source("notes/"), Tags: []string{"luminous"}})
	await(t, importLimit, "the objects are listed", func(ctx context.Context) error {
		now, err := s.Import(ctx, i.ID)
		if err == nil && now.Discovered < objects {
			err = fmt.Errorf("%d are", now.Discovered)
		}
		return err
	})
	s.obeys(t, i.ID, "pause", "paused", s.PauseImport)
	b.slow(0)
	s.obeys(t, i.ID, "resume", "running", s.ResumeImport)
	wantCounts(t, s.awaitImport(t, i.ID), counts{discovered: objects + 2, published: objects + 1, failed: 1})
	b.put("notes/empty.txt", "No longer empty.")
	retried, err := s.RetryImport(t.Context(), i.ID)
	if err != nil {
		t.Fatal(err)
	}
	wantCounts(t, s.awaitImport(t, i.ID), counts{discovered: objects + 2, published: objects + 2})

	workflow := "import/default/" + i.ID
	for _, test := range []struct{ name, workflow string }{
		{"bulk_import", workflow}, {"bulk_import_retry", workflow + "/retry-" + retried.RunID}, {"import_page", workflow + "/page-000000"},
	} {
		s.wantHistory(t, test.name, test.workflow, "notes/", ".txt", "password", "shelf")
		h := s.history(t, test.workflow)
		t.Logf("%s: %d events, %d bytes", test.name, len(h.Events), proto.Size(h))
	}
}
