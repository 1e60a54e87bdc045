package question_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/idempotency"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/question"
	"github.com/cairn-rag/cairn/internal/store"
)

// counting counts the leases of tokens.
type counting struct {
	*store.Store
	leases *atomic.Int32
}

// TakeTokens implements question.Store.
func (c counting) TakeTokens(ctx context.Context, r store.TokenRequest) (store.Tokens, error) {
	c.leases.Add(1)
	return c.Store.TakeTokens(ctx, r)
}

// TestLimitsOverTwoProcesses asks two processes in turn, until both refuse. Together they
// take exactly the limit of a minute, and write to SQL once for some questions.
func TestLimitsOverTwoProcesses(t *testing.T) {
	t.Parallel()
	f := open(t)
	const limit = 60
	var leases atomic.Int32
	clock := time.Now()
	processes := make([]*question.Starter, 2)
	for i := range processes {
		processes[i] = question.New(question.Config{Shared: true, InstanceLimits: knowledge.InstanceLimits{UserQueriesPerMinute: limit}}, question.Deps{
			Store: counting{f.store, &leases}, Blobs: f.blobs, Keys: idempotency.New(f.store, "", time.Now), Workflows: f, Relay: f,
			Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return clock },
		})
	}
	// ask sends questions to both until both have refused one.
	ask := func() (allowed int) {
		refusals := 0
		for i := 0; refusals < 4; i++ {
			started, err := processes[i%2].Start(t.Context(), f.reader, question.Request{Kind: knowledge.KindQuery, TextField: "body.text", Text: "Who?", Project: "p"})
			if err == nil {
				started.Release()
				allowed++
				continue
			}
			refusals++
			if e := knowledge.AsError(err); e.Code != knowledge.CodeRateLimited || e.RetryAfter <= 0 || e.RetryAfter > time.Second {
				t.Fatalf("%v, to be repeated after %v", err, e.RetryAfter)
			}
		}
		return allowed
	}
	if n := ask(); n != limit {
		t.Errorf("%d questions of %d were let through", n, limit)
	}
	if n := leases.Load(); n > limit/3+2 {
		t.Errorf("%d leases for %d questions", n, limit)
	}
	clock = clock.Add(10 * time.Second)
	if n := ask(); n != limit/6 {
		t.Errorf("after ten seconds %d questions were let through", n)
	}
}

// hanging has the store not answer a lease of tokens.
type hanging struct {
	*store.Store
	asked chan struct{}
}

// TakeTokens implements question.Store.
func (h hanging) TakeTokens(ctx context.Context, _ store.TokenRequest) (store.Tokens, error) {
	h.asked <- struct{}{}
	<-ctx.Done()
	return store.Tokens{}, ctx.Err()
}

// TestQuestionsWaitForALease has the store hang in the lease of one question: another one
// ends with its own context.
func TestQuestionsWaitForALease(t *testing.T) {
	t.Parallel()
	f := open(t)
	h := hanging{f.store, make(chan struct{})}
	starter := question.New(question.Config{Shared: true, InstanceLimits: knowledge.InstanceLimits{UserQueriesPerMinute: 60}}, question.Deps{
		Store: h, Blobs: f.blobs, Keys: idempotency.New(f.store, "", time.Now), Workflows: f, Relay: f,
		Log: slog.New(slog.DiscardHandler), Now: time.Now,
	})
	start := func(ctx context.Context) <-chan error {
		ended := make(chan error, 1)
		go func() {
			_, err := starter.Start(ctx, f.reader, question.Request{Kind: knowledge.KindQuery, TextField: "body.text", Text: "Who?", Project: "p"})
			ended <- err
		}()
		return ended
	}
	patient, stop := context.WithCancel(t.Context())
	first := start(patient)
	<-h.asked
	impatient, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	select {
	case err := <-start(impatient):
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the other question: %v", err)
		}
	case <-time.After(20 * time.Second):
		t.Error("the other question waits for the first one")
	}
	stop()
	if err := <-first; !errors.Is(err, context.Canceled) {
		t.Errorf("the first question: %v", err)
	}
}
