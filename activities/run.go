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

// promptTemplate returns the template of the system message. The template of a tool
// always has a place for passages, because a tool searches only once.
func promptTemplate(r knowledge.Request) string {
	switch {
	case r.Web != nil && r.Config.AI.Prompt == "":
		return prompt.Web
	case r.Kind == knowledge.KindTool:
		return prompt.WithContext(r.Config.AI.Prompt)
	}
	return r.Config.AI.Prompt
}

// RequestBlobs is the part of the blob store that ReadRequest uses.
type RequestBlobs interface {
	// GetJSON decodes the blob under key into v. It returns blob.ErrNotFound if there
	// is none.
	GetJSON(ctx context.Context, key string, v any) error
}

// ReadRequest returns the request of a run, changed as its webhooks answered, or
// blob.ErrNotFound if there is none.
func ReadRequest(ctx context.Context, blobs RequestBlobs, run knowledge.RunRef) (r knowledge.Request, err error) {
	if err := blobs.GetJSON(ctx, run.RequestKey(), &r); err != nil {
		return r, fmt.Errorf("read request of run %s: %w", run.Run, err)
	}
	if len(r.Webhooks) == 0 {
		return r, nil
	}
	record, err := readWebhooks(ctx, blobs, run)
	if record != nil {
		record.apply(&r)
	}
	return r, err
}

// heartbeat records a heartbeat of the activity every second until stop is called,
// also after a cancel, while the activity completes what it must not leave half
// done. For a local activity it does nothing.
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

// logger returns l with the ids of a version and its run.
func logger(l *slog.Logger, ref knowledge.VersionRef, run string) *slog.Logger {
	return l.With("workspace", ref.Workspace, "document", ref.Document, "version", ref.Version, "run", run)
}
