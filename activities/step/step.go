package step

import (
	"context"
	"fmt"
	"log/slog"
	"net/url"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/stream"
)

// shownFolder is the folder in a version's prefix of the figures as models are shown them.
const shownFolder = "shown/"

// ShownKey returns the key of a figure of a version as models are shown it.
func ShownKey(ref knowledge.VersionRef, name string) string {
	return blob.StepKey(ref, shownFolder+url.PathEscape(name))
}

// WholeLog returns the items of a run's stored segments, followed by held.
func WholeLog(ctx context.Context, blobs Blobs, run knowledge.RunRef, segments int, held []stream.Item) ([]stream.Item, error) {
	var items []stream.Item
	for n := range segments {
		var segment stream.StoredLog
		if err := blobs.GetJSON(ctx, run.SegmentKey(n), &segment); err != nil {
			return nil, fmt.Errorf("read log segment %d: %w", n, err)
		}
		items = append(items, segment.Items...)
	}
	return append(items, held...), nil
}

// Heartbeat records a heartbeat of the activity every second until stop is called,
// also after a cancel, while the activity completes what it must not leave half
// done. For a local activity it does nothing.
func Heartbeat(ctx context.Context) (stop func()) {
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

// Logger returns l with the ids of a version and its run.
func Logger(l *slog.Logger, ref knowledge.VersionRef, run string) *slog.Logger {
	return l.With("workspace", ref.Workspace, "document", ref.Document, "version", ref.Version, "run", run)
}
