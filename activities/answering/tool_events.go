package answering

import (
	"context"
	"fmt"
	"sync"

	"go.temporal.io/sdk/activity"

	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/internal/tool"
)

// maxToolEvents bounds the events of a tool call: each is a signal in the history of the
// workflow. Later ones are not shown.
const maxToolEvents = 200

// toolEvents writes what a tool call shows into the log of its run.
type toolEvents struct {
	calling  *CallingTools
	call     tool.Call
	id       string // of the call, as the model named it
	workflow string
	ctx      context.Context //nolint:containedctx // of the activity, whose tool shows events wherever it is

	mu    sync.Mutex
	shown int
}

func (a *CallingTools) toolEvents(ctx context.Context, c tool.Call, id string) *toolEvents {
	return &toolEvents{calling: a, call: c, id: id, workflow: activity.GetInfo(ctx).WorkflowExecution.ID, ctx: ctx}
}

// show implements tool.Call.Events. A call continues if its events cannot be shown.
func (e *toolEvents) show(event string, data any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.shown >= maxToolEvents {
		return
	}
	e.shown++
	if err := e.publish(event, data); err != nil {
		e.calling.Log.WarnContext(e.ctx, "an event of a tool is not shown", "run", e.call.Run, "event", event, "error", err)
	}
}

// publish stores the data, unless an earlier attempt of the call has, and signals the
// event to the log.
func (e *toolEvents) publish(event string, data any) error {
	key := e.call.ToolEventKey(e.call.Turn, e.call.Number, e.shown)
	stored, err := e.calling.Blobs.Exists(e.ctx, key)
	if err != nil {
		return fmt.Errorf("look for event %d: %w", e.shown, err)
	}
	if !stored {
		if _, err := e.calling.Blobs.PutJSON(e.ctx, key, data); err != nil {
			return fmt.Errorf("store event %d: %w", e.shown, err)
		}
	}
	entry, err := stream.NewEntry(stream.TopicToolEvent, stream.Event{Ref: key, Data: stream.Data(record.ToolEventData{ID: e.id, Event: event})})
	if err != nil {
		return err
	}
	return e.calling.Workflows.Publish(e.ctx, e.workflow, stream.Batch{
		Items: []stream.Entry{entry}, PublisherID: stream.ToolPublisher(e.call.Turn, e.call.Number), Sequence: int64(e.shown),
	})
}
