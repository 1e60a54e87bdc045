package e2e_test

import (
	"net/http"
	"sync"
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
	var uploads sync.WaitGroup
	list := make([]accepted, documents)
	for i := range list {
		uploads.Go(func() { list[i] = s.uploadThrough(t, i) })
	}
	if err := m.Wait(t.Context(), func(now modeltest.Totals) bool { return now.Embeddings.Asked >= 4 }); err != nil {
		t.Fatal(err)
	}
	s.kill()
	s.restart()
	uploads.Wait()
	if t.Failed() {
		return
	}
	s.awaitPublished(t, documents)
	for i, a := range list {
		s.wantOnce(t, a, i)
	}
	if answer := read(t, s.follow(t, s.query(t, "What is the watchword of station 1?").run, 0)); answer.last.Name != "done" && answer.text == "" {
		t.Errorf("the answer is %+v", answer)
	}
	if status := s.call(t, http.MethodDelete, "/workspaces/default/documents/"+list[0].ID, nil, nil); status >= 300 {
		t.Errorf("the removal of a document: status %d", status)
	}
	s.awaitPublished(t, documents-1)
	if found, err := s.retrieve(t.Context(), "Which station has the watchword "+watchword(0)+"?", watchword(0)); err != nil || len(found) != 0 {
		t.Errorf("what was removed is found as %v, %v", found, err)
	}
	s.stop()
}
