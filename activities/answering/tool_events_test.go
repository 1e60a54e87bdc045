package answering_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/internal/tool"
)

// TestToolEvents repeats a call that showed two events and then failed. The log has each
// event once, with the data of the attempt that showed it first.
func TestToolEvents(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	attempt := 0
	f.AnswerWith(func(d *answering.Dependencies) {
		d.Tools = tool.Set{{Name: "look", Run: func(_ context.Context, c tool.Call) (tool.Output, error) {
			attempt++
			for step := range attempt + 1 {
				c.Show("step", map[string]string{"said": fmt.Sprintf("%d of attempt %d", step, attempt)})
			}
			if attempt == 1 {
				return tool.Output{}, errors.New("the process ends here")
			}
			return tool.Output{Words: "seen"}, nil
		}}}
	})
	in := f.calls(f.Ask("what?"), model.ToolCall{ID: "a", Name: "look", Arguments: `{}`})
	_, err := do(f, f.Answering.CallTool, in)
	f.FailedWith(err, knowledge.CodeInternal, true)
	_, err = do(f, f.Answering.CallTool, in)
	f.Must(err)

	got := []string{}
	for _, item := range f.Workflows.Logged.Items(0) {
		event, err := stream.DecodeEvent(item.Data)
		f.Must(err)
		var data struct{ Said string }
		f.Must(f.Blobs.GetJSON(f.Ctx, event.Ref, &data))
		got = append(got, item.Topic+" "+data.Said)
	}
	want := []string{"toolEvent 0 of attempt 1", "toolEvent 1 of attempt 1", "toolEvent 2 of attempt 2"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	f.Workflows.Logged.Retire(stream.ToolPublisher(in.Turn, in.Call))
	_, err = do(f, f.Answering.CallTool, in)
	f.Must(err)
	if n := len(f.Workflows.Logged.Items(0)); n != len(want) || attempt != 2 {
		t.Errorf("%d events after %d attempts", n, attempt)
	}
}

// TestToolEventsAreBounded lets a tool show events without end.
func TestToolEventsAreBounded(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.AnswerWith(func(d *answering.Dependencies) {
		d.Tools = tool.Set{{Name: "look", Run: func(_ context.Context, c tool.Call) (tool.Output, error) {
			for range 1000 {
				c.Show("step", nil)
			}
			return tool.Output{Words: "seen"}, nil
		}}}
	})
	_, err := do(f, f.Answering.CallTool, f.calls(f.Ask("what?"), model.ToolCall{ID: "a", Name: "look", Arguments: `{}`}))
	f.Must(err)
	if n := len(f.Workflows.Logged.Items(0)); n != 200 {
		t.Errorf("%d events are in the log", n)
	}
}
