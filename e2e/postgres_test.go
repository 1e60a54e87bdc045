package e2e_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/store/postgrestest"
)

// TestPostgres keeps the metadata in PostgreSQL: documents are ingested over a kill in
// the middle, found, asked about and removed.
func TestPostgres(t *testing.T) {
	t.Parallel()
	const documents = 8
	m := standIn(t, modeltest.Options{EmbeddingDelay: 80 * time.Millisecond})
	s := start(t, at(m.URL(), "CAIRN_DATABASE__URL="+postgrestest.Empty(t))...)
	list := s.ingestOverKill(t, m, documents)
	if status := s.call(t, http.MethodDelete, "/workspaces/default/documents/"+list[0].ID, nil, nil); status >= 300 {
		t.Errorf("the removal of a document: status %d", status)
	}
	s.awaitPublished(t, documents-1)
	if found, err := s.retrieve(t.Context(), "Which station has the watchword "+watchword(0)+"?", watchword(0)); err != nil || len(found) != 0 {
		t.Errorf("what was removed is found as %v, %v", found, err)
	}
	s.stop()
}
