package activities

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/prompt"
)

// SearchFirst reports whether the prompt of a question has a place for passages,
// so that a search comes before the first model call.
func SearchFirst(r knowledge.Request) bool { return prompt.WantsContext(promptTemplate(r)) }

// promptTemplate returns the template of the system message. A tool's always has
// a place for passages: it searches only once.
func promptTemplate(r knowledge.Request) string {
	if r.Kind == knowledge.KindTool {
		return prompt.WithContext(r.Config.AI.Prompt)
	}
	return r.Config.AI.Prompt
}

// RequestBlobs is where requests are read.
type RequestBlobs interface {
	// GetJSON reads what is under key; a missing one is blob.ErrNotFound.
	GetJSON(ctx context.Context, key string, v any) error
}

// ReadRequest reads a run's request. A missing one is blob.ErrNotFound.
func ReadRequest(ctx context.Context, blobs RequestBlobs, run knowledge.RunRef) (r knowledge.Request, err error) {
	if err := blobs.GetJSON(ctx, run.RequestKey(), &r); err != nil {
		return r, fmt.Errorf("read request of run %s: %w", run.Run, err)
	}
	return r, nil
}

// heartbeat tells Temporal every second, from now until stop, that the
// activity is alive, whatever it waits for; also while one that is cancelled
// brings to an end what must not be left halfway. A local activity needs none.
func heartbeat(ctx context.Context) (stop func()) {
	if activity.GetInfo(ctx).IsLocalActivity {
		return func() {}
	}
	done := make(chan struct{})
	ctx = context.WithoutCancel(ctx)
	go func() {
		ticker := time.NewTicker(time.Second)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				activity.RecordHeartbeat(ctx)
			case <-done:
				return
			}
		}
	}()
	return func() { close(done) }
}

// logger adds the ids of a version to the lines of a step.
func logger(l *slog.Logger, ref knowledge.VersionRef, run string) *slog.Logger {
	return l.With("workspace", ref.Workspace, "document", ref.Document, "version", ref.Version, "run", run)
}
