package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/sse"
)

// questioned is a server with 200 documents whose model answers at once with 60
// tokens.
type questioned struct {
	*server
	model *modeltest.Server
	texts []string // of questions
}

// withDocuments starts such a server. The caller closes it.
func (b *bench) withDocuments(ctx context.Context) (*questioned, error) {
	list, err := b.abstracts()
	if err != nil {
		return nil, err
	}
	texts, _, err := b.queries()
	if err != nil {
		return nil, err
	}
	q := &questioned{model: modeltest.New(modeltest.Options{Tokens: 60}), texts: texts}
	if q.server, _, err = b.serveWithModel(ctx, q.model); err != nil {
		q.model.Close()
		return nil, err
	}
	if _, err := q.upload(ctx, list[:200]); err != nil {
		return nil, errors.Join(err, q.close())
	}
	return q, nil
}

func (q *questioned) close() error {
	q.model.Close()
	return q.remove()
}

// ask asks n questions from so many clients at the same time.
func (q *questioned) ask(ctx context.Context, clients, n int) (*timings, time.Duration, error) {
	var t timings
	took, err := load(ctx, clients, n, func(ctx context.Context, i int) error { return t.ask(ctx, q.remote(), q.texts[i%len(q.texts)]) })
	return &t, took, err
}

// question measures questions over SSE at 1, 8, 32 and 100 clients.
func question(ctx context.Context, b *bench) (figures []figure, err error) {
	q, err := b.withDocuments(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, q.close()) }()
	for _, at := range []struct {
		clients       int
		token, end    float64 // aims, ms
		perSecond     float64
		cpuMillisEach float64
	}{{1, 20, 40, 0, 37}, {8, 60, 150, 0, 37}, {32, 100, 550, 60, 37}, {100, 0, 0, 0, 37}} {
		n := 100 + 15*at.clients
		if _, _, err := q.ask(ctx, at.clients, 2*at.clients); err != nil { // to warm up
			return nil, err
		}
		before := q.cpu()
		t, took, err := q.ask(ctx, at.clients, n)
		if err != nil {
			return nil, err
		}
		rate := higher("questions/s, "+clientCount(at.clients), float64(n)/took.Seconds())
		if at.perSecond > 0 {
			rate = rate.aim(at.perSecond)
		}
		named := func(name string) string { return name + ", " + clientCount(at.clients) }
		figures = append(figures, rate,
			lower(named("first event p50 ms"), t.first.quantile(.5)),
			lower(named("first event p95 ms"), t.first.quantile(.95)),
			withAim(lower(named("first token p50 ms"), t.token.quantile(.5)), at.token),
			lower(named("first token p95 ms"), t.token.quantile(.95)),
			withAim(lower(named("end p50 ms"), t.end.quantile(.5)), at.end),
			lower(named("end p95 ms"), t.end.quantile(.95)),
			lower(named("events lost or twice"), float64(t.lost.Load())).aim(0),
			lower(named("CPU ms a question"), (q.cpu()-before)*1000/float64(n)).aim(at.cpuMillisEach))
	}
	return figures, nil
}

// withAim sets an aim, unless it is 0.
func withAim(f figure, aim float64) figure {
	if aim == 0 {
		return f
	}
	return f.aim(aim)
}

// timings gathers how long after the question its events came.
type timings struct {
	first, token, end samples
	lost              atomic.Int64 // events whose number is not the next
}

// ask asks one question and reads its events to the end.
func (t *timings) ask(ctx context.Context, r remote, text string) error {
	begin := time.Now()
	response, err := r.open(ctx, "POST", "/workspaces/default/webhooks/query?compact=true", map[string]any{"text": text, "projectId": "default", "sse": true})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	seen := map[string]bool{}
	last := 0
	for e, err := range sse.Read(response.Body) {
		if err != nil {
			return err
		}
		took := time.Since(begin)
		if last++; e.ID != strconv.Itoa(last) {
			t.lost.Add(1)
		}
		if len(seen) == 0 {
			t.first.add(took)
		}
		if e.Name == "apiMessageChunk" && !seen[e.Name] {
			t.token.add(took)
		}
		seen[e.Name] = true
		if e.Name == "error" {
			return fmt.Errorf("the question failed: %s", e.Data)
		}
		if e.Name == "completedMessage" {
			t.end.add(took)
			return nil
		}
	}
	return errors.New("the stream ended without an answer")
}
