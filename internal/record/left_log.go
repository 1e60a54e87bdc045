package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// LeftLog returns the items of a run in the log of a closed workflow that did not
// end the run. The caller appends the run's last item, so that readers find it at
// their next offset. events reads the workflow's log.
//
// It fails if events fails in a way that can pass: a run that ended without the
// items that readers have would hide its end from them. If the log is lost for
// good (stream.ErrLogLost), it returns what it has read.
func LeftLog(ctx context.Context, run store.Run, events func(ctx context.Context, workflowID string, from int64) (stream.EventsPage, error)) ([]stream.Item, error) {
	var items []stream.Item
	for from := run.FirstOffset; from >= 0; {
		page, err := events(ctx, run.LogWorkflowID(), from)
		if errors.Is(err, stream.ErrLogLost) {
			return items, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the log that run %s left: %w", run.ID, err)
		}
		for _, item := range page.Items {
			if item.Offset != run.FirstOffset+int64(len(items)) || stream.Terminal(item.Topic) || !belongsTo(item, run) {
				return items, nil
			}
			items = append(items, item)
		}
		if from = page.NextOffset; !page.MoreReady {
			break
		}
	}
	return items, nil
}

// belongsTo reports whether an item belongs to the run's version. The workflow
// of a document serves its versions one after the other.
func belongsTo(item stream.Item, run store.Run) bool {
	if item.Topic == stream.TopicStep { // it follows an item of its version
		return true
	}
	if item.Topic != stream.TopicDocument {
		return !run.Kind.Traits().SharesWorkflow
	}
	var of struct {
		Version int `json:"version"`
	}
	event, err := stream.DecodeEvent(item.Data)
	return err == nil && json.Unmarshal(event.Data, &of) == nil && of.Version == run.Version
}

// LastOffset returns the offset of a run's last item, which follows items. If the
// run's log is lost, there are no items, and it returns the first offset, which SQL
// keeps: all later readers begin there.
func LastOffset(run store.Run, items []stream.Item) int64 {
	return run.EventsFrom() + int64(len(items))
}
