package activities

import (
	"context"
	"encoding/json"

	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// LeftLog gives the items of a run that a closed workflow did not end: whoever
// ends it puts the last one behind them, where readers look for it. events reads
// the workflow's log. A workflow that cannot be replayed tells nothing, and one
// that has meanwhile served another version nothing of this one.
func LeftLog(ctx context.Context, run store.Run, events func(ctx context.Context, workflowID string, from int64) (stream.EventsPage, error)) []stream.Item {
	var items []stream.Item
	for from := run.FirstOffset; from >= 0; {
		page, err := events(ctx, run.WorkflowID, from)
		if err != nil {
			return items
		}
		for _, item := range page.Items {
			if item.Offset != run.FirstOffset+int64(len(items)) || stream.Terminal(item.Topic) || !tellsOf(item, run) {
				return items
			}
			items = append(items, item)
		}
		if from = page.NextOffset; !page.MoreReady {
			break
		}
	}
	return items
}

// tellsOf reports whether an item is of the run's version, where it has one.
func tellsOf(item stream.Item, run store.Run) bool {
	if item.Topic != stream.TopicDocument {
		return run.Kind != "ingest"
	}
	var of struct {
		Version int `json:"version"`
	}
	event, err := stream.DecodeEvent(item.Data)
	return err == nil && json.Unmarshal(event.Data, &of) == nil && of.Version == run.Version
}

// LastOffset is where a run's end goes, behind the items that it has.
func LastOffset(run store.Run, items []stream.Item) int64 {
	return run.EventsFrom() + int64(len(items))
}
