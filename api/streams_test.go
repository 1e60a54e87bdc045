package api_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/api"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// opened tells how many streams are open, at each change.
type opened chan int

func (opened) Request(string, string, int, time.Duration) {}
func (o opened) OpenStreams(n int)                        { o <- n }

func TestAQuestionWithoutAPlaceForItsStreamIsNotStarted(t *testing.T) {
	t.Parallel()
	for kind, c := range map[string]struct{ path, body string }{
		"query": {hooks + "/query", `{"text":"Why?","sse":true}`},
		"tool":  {"/tools/rag_search", `{"query":"Why?","stream":true}`},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			streams := make(opened, 10)
			e := open(t, func(cfg *api.Config, d *api.Deps) { cfg.Streams, d.Metrics = 1, streams })
			e.add(e.editor, "a.txt", "one")
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			r := httptest.NewRequestWithContext(ctx, "GET", "/runs/"+e.work.ingests[0].RunID+"/events", nil)
			r.Header.Set("Authorization", "Bearer "+e.editor)
			go e.handler.ServeHTTP(httptest.NewRecorder(), r)
			if n := <-streams; n != 1 {
				t.Fatalf("%d streams are open", n)
			}
			got := e.do("POST", c.path, e.editor, c.body, "Idempotency-Key", "k")
			got.refused(429, knowledge.CodeRateLimited)
			if got.header.Get("Retry-After") == "" || len(e.work.answers) != 0 {
				t.Errorf("headers %v, %d started", got.header, len(e.work.answers))
			}
			if runs := e.do("GET", own+"/runs?kind="+kind, e.editor, nil).want(200)["data"].([]any); len(runs) != 0 {
				t.Errorf("runs: %v", runs)
			}
			leave()
			if n := <-streams; n != 0 {
				t.Fatalf("%d streams are open", n)
			}
			e.server.Stop() // ends the stream that now finds its place
			again := e.do("POST", c.path, e.editor, c.body, "Idempotency-Key", "k")
			if again.status == http.StatusTooManyRequests || len(e.work.answers) != 1 {
				t.Errorf("the same request later: %d %s, %d started", again.status, again.body, len(e.work.answers))
			}
		})
	}
}
