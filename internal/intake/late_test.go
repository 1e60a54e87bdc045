package intake_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-rag/cairn/internal/intake"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// restarted is a workflow service that is down at first.
type restarted struct {
	intake.Workflows

	mu      sync.Mutex
	err     error
	started []string
}

func (r *restarted) Ingest(_ context.Context, v store.Version) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.started = append(r.started, v.Document)
	}
	return r.err
}

func (r *restarted) IngestLater(ctx context.Context, v store.Version) error { return r.Ingest(ctx, v) }

func (r *restarted) becomes(err error) (started []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = err
	return slices.Clone(r.started)
}

func TestLate(t *testing.T) {
	t.Parallel()
	down := &knowledge.Error{Code: knowledge.CodeUnavailable, Message: "the workflow service is not available"}
	version := func(document string) store.Version {
		return store.Version{VersionRef: knowledge.VersionRef{Document: document}}
	}
	t.Run("starts_accepted_documents_within_a_second_of_the_service", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			service := &restarted{err: down}
			late := intake.NewLate(service, slog.New(slog.DiscardHandler))
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			go late.Run(ctx)
			if err := late.Ingest(ctx, version("a")); !errors.Is(err, down) {
				t.Errorf("got error %v", err)
			}
			if err := late.IngestLater(ctx, version("b")); !errors.Is(err, down) {
				t.Errorf("got error %v", err)
			}
			time.Sleep(time.Hour)
			if got := service.becomes(nil); len(got) != 0 {
				t.Errorf("started %v", got)
			}
			time.Sleep(time.Second)
			synctest.Wait()
			if got := service.becomes(nil); !slices.Equal(got, []string{"a", "b"}) {
				t.Errorf("started %v, want a and b", got)
			}
			time.Sleep(time.Minute)
			if got := service.becomes(nil); len(got) != 2 {
				t.Errorf("started again: %v", got)
			}
		})
	})
	t.Run("forgets_what_cannot_start", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			service := &restarted{err: down}
			late := intake.NewLate(service, slog.New(slog.DiscardHandler))
			ctx, stop := context.WithCancel(t.Context())
			defer stop()
			go late.Run(ctx)
			_ = late.Ingest(ctx, version("a")) // it is down
			service.becomes(errors.New("wrong"))
			_ = late.Ingest(ctx, version("b")) // no error that passes
			time.Sleep(2 * time.Second)
			service.becomes(nil)
			time.Sleep(time.Minute)
			if got := service.becomes(nil); len(got) != 0 {
				t.Errorf("started %v", got)
			}
		})
	})
}
