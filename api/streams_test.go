package api_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/api"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// opened tells how many streams are open, at each change.
type opened chan int

func (opened) Request(string, string, int, time.Duration) {}

func (o opened) OpenStreams(n int) { o <- n }

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

// TestAStreamDoesNotKeepTheBodyOfItsQuestion is not parallel: it measures the heap.
func TestAStreamDoesNotKeepTheBodyOfItsQuestion(t *testing.T) {
	const count, size = 20, 900 << 10
	streams := make(opened, 2*count)
	e, p, _ := openPaced(t, count, streams)
	body := `{"text":"Why?","sse":true` + strings.Repeat(" ", size) + `}`
	before := liveHeap()
	for range count {
		r := httptest.NewRequestWithContext(t.Context(), "POST", hooks+"/query", strings.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+e.reader)
		r.Header.Set("Content-Type", "application/json")
		go e.handler.ServeHTTP(httptest.NewRecorder(), r)
		<-streams
		<-p.started
	}
	if kept := (liveHeap() - before) / count; kept > size/4 {
		t.Errorf("a stream keeps %d bytes of memory, and its question had %d", kept, size)
	}
}

// liveHeap returns how many bytes of the heap are in use.
func liveHeap() int64 {
	runtime.GC()
	runtime.GC() // frees what the first one found in pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestResumingReadsWhatIsStillToCome(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.work.end = func(in record.AnswerInput) error {
		for _, entry := range []stream.Entry{
			must(stream.NewEntry(stream.TopicToolCall, stream.Event{Ref: "what/is/not/there"})),
			must(stream.NewEntry(stream.TopicDelta, stream.Event{Text: "one "})),
			must(stream.NewEntry(stream.TopicReset, stream.Event{})),
			must(stream.NewEntry(stream.TopicDelta, stream.Event{Text: "two "})),
			must(stream.NewEntry(stream.TopicDelta, stream.Event{Text: "three"})),
		} {
			e.logs[in.Run] = append(e.logs[in.Run], stream.Item{Topic: entry.Topic, Data: entry.Data, Offset: int64(len(e.logs[in.Run]))})
		}
		return e.store.EndRun(t.Context(), in.Workspace, in.Run, store.RunEnd{Status: knowledge.RunCompleted})
	}
	run := e.do("POST", hooks+"/query", e.reader, `{"text":"Why?"}`).header.Get("Cairn-Run-Id")
	for query, words := range map[string]string{"after=4": `"value":"two three"`, "after=4&compact=true": `"data":"three"`} {
		got := e.do("GET", "/runs/"+run+"/events?"+query, e.reader, nil)
		body := string(got.body)
		if !strings.Contains(body, words) || strings.Contains(body, "id: 4\n") || !strings.Contains(body, "id: 6\n") {
			t.Errorf("%s: %d %s", query, got.status, body)
		}
	}
}

func TestAStreamThatBreaksOffIsLogged(t *testing.T) {
	t.Parallel()
	streams := make(opened, 10)
	e := open(t, func(_ *api.Config, d *api.Deps) { d.Metrics = streams })
	e.add(e.editor, "a.txt", "one") // its turn does not come
	over := make(chan answer)
	go func() { over <- e.do("GET", "/runs/"+e.work.ingests[0].RunID+"/events", e.editor, nil) }()
	<-streams
	e.forget(e.work.ingests[0].RunID)
	<-over
	if !strings.Contains(e.log.String(), "stream ended early") {
		t.Errorf("the log: %s", e.log)
	}
}
