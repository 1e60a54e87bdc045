package api_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// The event of a tool call and the answer show the same arguments.
func TestArgumentsOfToolCalls(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		given string
		want  any
	}{
		"JSON":    {`{"query":"leave"}`, map[string]any{"query": "leave"}},
		"no JSON": {`{bad`, `{bad`},
		"nothing": {``, map[string]any{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := open(t)
			ref := knowledge.RunRef{Workspace: "default", Run: knowledge.NewID()}
			turn, end := ref.TurnKey(1), ref.AnswerKey()
			_, putTurn := e.blobs.PutJSON(t.Context(), turn, record.ModelCall{ToolCalls: []model.ToolCall{{ID: "1", Name: "documents_rag", Arguments: c.given}}})
			_, putEnd := e.blobs.PutJSON(t.Context(), end, record.Answer{ToolCalls: []record.CalledTool{{ID: "1", Name: "documents_rag", Arguments: c.given}}})
			added := e.store.AddRun(t.Context(), store.Run{ID: ref.Run, Workspace: "default", Kind: "query", CreatedAt: time.Now()})
			ended := e.store.EndRun(t.Context(), "default", ref.Run, store.RunEnd{Status: knowledge.RunCompleted, ResultKey: end, At: time.Now()})
			call, callErr := stream.NewEntry(stream.TopicToolCall, stream.Event{Ref: turn, Data: stream.Data(record.ToolCallData{ID: "1", Name: "documents_rag", Status: "started"})})
			last, lastErr := stream.NewEntry(stream.TopicCompleted, stream.Event{Ref: end})
			if err := errors.Join(putTurn, putEnd, added, ended, callErr, lastErr); err != nil {
				t.Fatal(err)
			}
			e.logs[ref.Run] = []stream.Item{{Topic: call.Topic, Data: call.Data}, {Topic: last.Topic, Data: last.Data, Offset: 1}}
			events := e.events(ref.Run)
			if diff := cmp.Diff(c.want, events[0]["arguments"]); diff != "" {
				t.Errorf("the event: %s", diff)
			}
			if diff := cmp.Diff(c.want, events[1]["toolCalls"].([]any)[0].(map[string]any)["arguments"]); diff != "" {
				t.Errorf("the answer: %s", diff)
			}
		})
	}
}
