package intake

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

const (
	// latePause is the time between two tries to start an ingestion. It bounds how long an
	// accepted document waits after the workflow service is back.
	latePause = time.Second
	// maxLate bounds the ingestions that a process remembers. The sweep starts the others.
	maxLate = 10_000
)

// Late is a Workflows that starts an ingestion again which the service could not start,
// when the service answers again. The sweep starts what a process forgets at its end.
type Late struct {
	Workflows
	log *slog.Logger

	mu      sync.Mutex
	waiting []func(context.Context) error // in the order of the first tries
}

// NewLate returns a Late over workflows. It tries nothing again until Run is called.
func NewLate(workflows Workflows, log *slog.Logger) *Late {
	return &Late{Workflows: workflows, log: log}
}

// Ingest implements Workflows.
func (l *Late) Ingest(ctx context.Context, v store.Version) error {
	return l.start(ctx, func(ctx context.Context) error { return l.Workflows.Ingest(ctx, v) })
}

// IngestLater implements Workflows.
func (l *Late) IngestLater(ctx context.Context, v store.Version) error {
	return l.start(ctx, func(ctx context.Context) error { return l.Workflows.IngestLater(ctx, v) })
}

func (l *Late) start(ctx context.Context, ingest func(context.Context) error) error {
	err := ingest(ctx)
	if knowledge.IsCode(err, knowledge.CodeUnavailable) {
		l.mu.Lock()
		defer l.mu.Unlock()
		if len(l.waiting) < maxLate {
			l.waiting = append(l.waiting, ingest)
		}
	}
	return err
}

// Run tries the ingestions again, every second, until ctx ends.
func (l *Late) Run(ctx context.Context) {
	ticker := time.NewTicker(latePause)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			l.again(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// again starts the ingestions that wait, until one finds the service unavailable.
func (l *Late) again(ctx context.Context) {
	for started := 0; ; started++ {
		l.mu.Lock()
		if len(l.waiting) == 0 {
			l.mu.Unlock()
			if started > 0 {
				l.log.InfoContext(ctx, "the workflow service is back: accepted documents were started", "documents", started)
			}
			return
		}
		ingest := l.waiting[0]
		l.mu.Unlock()
		trying, cancel := context.WithTimeout(ctx, startPatience)
		err := ingest(trying)
		cancel()
		if knowledge.IsCode(err, knowledge.CodeUnavailable) || ctx.Err() != nil {
			return
		}
		if err != nil {
			l.log.WarnContext(ctx, "ingestion starts later", "error", err)
		}
		l.mu.Lock()
		l.waiting = l.waiting[1:] // only this method removes
		l.mu.Unlock()
	}
}
