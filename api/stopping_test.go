package api_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// A reader that waits when the server stops gets an answer at once, with the address at
// which it can continue.
func TestStoppingEndsWaits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path, body string
		begun      bool // the version's turn has come
	}{
		"for an answer":               {hooks + "/query", `{"text":"Why?"}`, false},
		"for a tool":                  {"/tools/rag_search", `{"query":"Why?"}`, false},
		"for an ingestion":            {hooks + "/document?wait=true", `{"name":"a.txt","content":{"text":"one"}}`, true},
		"for an ingestion that waits": {hooks + "/document?wait=true", `{"name":"a.txt","content":{"text":"one"}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := open(t)
			e.work.entered, e.work.hold = make(chan struct{}), make(chan struct{})
			answered := make(chan answer)
			go func() { answered <- e.do("POST", c.path, e.editor, c.body) }()
			<-e.work.entered
			if c.begun {
				v := e.work.ingests[0]
				if _, err := e.store.BeginVersion(t.Context(), v.VersionRef, v.RunID, 0); err != nil {
					t.Fatal(err)
				}
			}
			close(e.work.hold)
			e.server.Stop()
			got := <-answered
			got.refused(503, knowledge.CodeUnavailable)
			for _, header := range []string{"Retry-After", "Cairn-Run-Id", "Cairn-Events-Url"} {
				if got.header.Get(header) == "" {
					t.Errorf("there is no %s", header)
				}
			}
		})
	}
}
