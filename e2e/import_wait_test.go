package e2e_test

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// importLimit bounds an import on a busy machine.
const importLimit = 3 * time.Minute

// startForImports starts a server that may dial sources on this machine.
func startForImports(t *testing.T) *server {
	t.Helper()
	m := standIn(t, modeltest.Options{})
	return start(t, at(m.URL(), "CAIRN_EGRESS__ALLOW=127.0.0.0/8")...)
}

// begin starts an import into the default project.
func (s *server) begin(t *testing.T, n client.NewImport) client.Import {
	t.Helper()
	n.Project = "default"
	i, err := s.StartImport(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// awaitImport waits for the end of an import, and checks that its counters agree.
func (s *server) awaitImport(t *testing.T, id string) client.Import {
	t.Helper()
	var i client.Import
	await(t, importLimit, "the import has ended", func(ctx context.Context) error {
		var err error
		if i, err = s.Import(ctx, id); err != nil {
			return err
		}
		if i.EndedAt == nil {
			return fmt.Errorf("it is %s: %d of %d published, %d failed", i.Status, i.Published, i.Discovered, i.Failed)
		}
		return nil
	})
	if !i.DryRun && i.Status == "completed" && i.Discovered != i.Published+i.Skipped+i.Failed {
		t.Errorf("import %s: %d discovered, but %d published, %d skipped and %d failed", id, i.Discovered, i.Published, i.Skipped, i.Failed)
	}
	return i
}

// run runs an import to its end.
func (s *server) runImport(t *testing.T, n client.NewImport) client.Import {
	t.Helper()
	return s.awaitImport(t, s.begin(t, n).ID)
}

// awaitPublishedObjects waits until an import has published n objects and still runs.
func (s *server) awaitPublishedObjects(t *testing.T, id string, n int64) {
	t.Helper()
	await(t, importLimit, fmt.Sprintf("%d objects are published", n), func(ctx context.Context) error {
		i, err := s.Import(ctx, id)
		if err != nil {
			return err
		}
		if i.EndedAt != nil {
			t.Fatalf("the import ended as %s with %d published before %d were seen", i.Status, i.Published, n)
		}
		if i.Published < n {
			return fmt.Errorf("%d are", i.Published)
		}
		return nil
	})
}

// counts are the counters of an import that a test names.
type counts struct{ discovered, published, skipped, failed, vanished, deleted int64 }

func countsOf(i client.Import) counts {
	return counts{i.Discovered, i.Published, i.Skipped, i.Failed, i.Vanished, i.Deleted}
}

func wantCounts(t *testing.T, i client.Import, want counts) {
	t.Helper()
	if got := countsOf(i); got != want || i.Status != "completed" || i.Error != nil {
		t.Errorf("the import is %s, %v with %+v; want %+v", i.Status, i.Error, got, want)
	}
}

// imported returns the documents of the default project by their external ids.
func (s *server) imported(t *testing.T) map[string]client.Document {
	t.Helper()
	found := map[string]client.Document{}
	for page := 0; ; page++ {
		list, err := s.Documents(t.Context(), client.DocumentQuery{Project: "default", Page: page})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range list.Documents {
			if _, twice := found[d.ExternalID]; twice {
				t.Errorf("two documents have the external id %s", d.ExternalID)
			}
			found[d.ExternalID] = d
		}
		if len(found) >= list.Total || len(list.Documents) == 0 {
			return found
		}
	}
}

// passages returns the texts of a document's passages.
func (s *server) passages(t *testing.T, document string) (texts []string) {
	t.Helper()
	for cursor := ""; ; {
		var page struct {
			Data []struct {
				Text string `json:"text"`
			} `json:"data"`
			NextCursor string `json:"next_cursor"`
		}
		if status := s.call(t, "GET", "/workspaces/default/documents/"+document+"/chunks?limit=500&cursor="+url.QueryEscape(cursor), nil, &page); status != 200 {
			t.Fatalf("chunks of document %s: status %d", document, status)
		}
		for _, c := range page.Data {
			texts = append(texts, c.Text)
		}
		if cursor = page.NextCursor; cursor == "" {
			return texts
		}
	}
}

// wantObject checks that an object is one published document with its text, and
// returns it.
func (s *server) wantObject(t *testing.T, documents map[string]client.Document, externalID, text string, version int) client.Document {
	t.Helper()
	d, found := documents[externalID]
	switch {
	case !found:
		t.Errorf("object %s is no document", externalID)
		return d
	case d.Status != knowledge.StatusPublished || d.Version != version || d.PublishedVersion != version || d.ChunkCount != 1:
		t.Errorf("object %s is %s with version %d, published %d, %d passages; want version %d with one", externalID, d.Status, d.Version, d.PublishedVersion, d.ChunkCount, version)
	}
	if got := s.passages(t, d.ID); len(got) != 1 || !strings.Contains(got[0], text) {
		t.Errorf("object %s has the passages %q, want one with %q", externalID, got, text)
	}
	return d
}

// wantFound checks that a search finds the password of an object once.
func (s *server) wantFound(t *testing.T, document client.Document, i int) {
	t.Helper()
	found, err := s.retrieve(t.Context(), "Which note has the password "+password(i)+"?", password(i)+".")
	if err != nil || len(found) != 1 || found[0].DocumentID != document.ID {
		t.Errorf("note %d is found as %v, %v; want once", i, found, err)
	}
}
