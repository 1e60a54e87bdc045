package api_test

import (
	"bytes"
	"context"
	"strconv"
	"sync"
	"testing"

	"github.com/cairn-rag/cairn/api"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// pair returns the API of two processes over one database. Each has a store of its own;
// change may wrap the store of the second one.
func pair(t *testing.T, change func(*store.Store) api.Store) (first, second *edge) {
	t.Helper()
	var cfg api.Config
	var deps api.Deps
	first = open(t, func(c *api.Config, d *api.Deps) { c.Process = "first"; cfg, deps = *c, *d })
	other, err := store.Open(t.Context(), store.Config{URL: "sqlite://" + first.database, Joined: true})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Process, deps.Store, deps.Followed = "second", change(other), other
	copied := *first
	second = &copied
	second.store, second.close = other, sync.OnceFunc(func() {
		if err := other.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(second.close)
	if second.server, err = api.New(cfg, deps); err != nil {
		t.Fatal(err)
	}
	second.handler = second.server.Handler()
	return first, second
}

// waiting is a store that notes when another process is found to hold a key.
type waiting struct {
	*store.Store
	held func()
}

// ClaimKey implements api.Store.
func (w waiting) ClaimKey(ctx context.Context, k store.IdempotencyKey) (*store.IdempotencyRecord, error) {
	record, err := w.Store.ClaimKey(ctx, k)
	if record != nil && record.Held {
		w.held()
	}
	return record, err
}

// TestIdempotencyKeyOverTwoProcesses repeats requests at another process while the first
// one runs: a document, whose answer is stored, and a question, whose answer is its run.
func TestIdempotencyKeyOverTwoProcesses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ path, body string }{
		"a_document": {hooks + "/document", `{"content":{"text":"one"}}`},
		"a_question": {hooks + "/query", `{"text":"Who?","sse":true}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			waits := make(chan struct{})
			once := sync.OnceFunc(func() { close(waits) })
			a, b := pair(t, func(s *store.Store) api.Store { return waiting{s, once} })
			a.work.entered, a.work.hold = make(chan struct{}, 9), make(chan struct{})
			first, second := make(chan answer, 1), make(chan answer, 1)
			go func() { first <- a.do("POST", c.path, a.editor, c.body, keyName, "k") }()
			<-a.work.entered
			go func() { second <- b.do("POST", c.path, b.editor, c.body, keyName, "k") }()
			select {
			case <-waits:
			case <-a.work.entered:
				t.Error("the repetition started a workflow beside the running request")
			case again := <-second:
				t.Errorf("answered beside the running request: %d %s", again.status, again.body)
				second <- again
			}
			close(a.work.hold)
			one, two := <-first, <-second
			if one.status >= 300 || one.status != two.status || !bytes.Equal(one.body, two.body) {
				t.Errorf("%d %s, then %d %s", one.status, one.body, two.status, two.body)
			}
			if run := one.header.Get("Cairn-Run-Id"); run == "" || two.header.Get("Cairn-Run-Id") != run {
				t.Errorf("Cairn-Run-Id is %q, then %q", run, two.header.Get("Cairn-Run-Id"))
			}
			a.work.mu.Lock()
			defer a.work.mu.Unlock()
			if n := len(a.work.ingests) + len(a.work.answers); n != 1 {
				t.Errorf("%d workflows were started", n)
			}
		})
	}
}

// TestQueriesPerMinuteOverTwoProcesses asks two processes in turn: the limit of the project
// counts the questions of both.
func TestQueriesPerMinuteOverTwoProcesses(t *testing.T) {
	t.Parallel()
	a, b := pair(t, func(s *store.Store) api.Store { return s })
	a.do("PATCH", own+"/projects/default", a.admin, `{"limits":{"queriesPerMinute":2}}`).want(200)
	ask := func(e *edge) answer {
		return e.do("POST", hooks+"/query", e.reader, `{"text":"Who?","projectId":"default","sse":true}`)
	}
	for _, e := range []*edge{a, b} {
		if got := ask(e); got.status != 200 {
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	for _, e := range []*edge{a, b} {
		got := ask(e)
		got.refused(429, knowledge.CodeRateLimited)
		if seconds, err := strconv.Atoi(got.header.Get("Retry-After")); err != nil || seconds < 1 || seconds > 30 {
			t.Errorf("Retry-After %q", got.header.Get("Retry-After"))
		}
	}
}
