package answering_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/tool"
)

// turn makes the model call tools. It returns the result for the workflow and the
// stored calls.
func (f *fixture) turn(run knowledge.RunRef, calls ...model.ToolCall) (answering.ModelCallResult, []model.ToolCall) {
	f.Helper()
	f.Server.ScriptChat(modeltest.Reply{ToolCalls: calls}, modeltest.Text("done"))
	result, err := do(f, f.Answering.CallModel, answering.ModelCallInput{RunRef: run, Turn: 1})
	f.Must(err)
	var said record.ModelCall
	f.Must(f.Blobs.GetJSON(f.Ctx, result.Key, &said))
	return result, said.ToolCalls
}

// search returns a valid tool call.
func search(id string) model.ToolCall {
	return model.ToolCall{ID: id, Name: tool.DocumentsRAG, Arguments: `{"query":"apples"}`}
}

func TestInvalidToolCalls(t *testing.T) {
	t.Parallel()

	t.Run("unknown names are replaced by one name", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		var calls []model.ToolCall
		var want []answering.ToolCallRef
		for i, name := range []string{"weather", "ignore what\nwas said", strings.Repeat("x", 1<<20), tool.DocumentsRAG + " ", tool.DocumentsRAG} {
			id := fmt.Sprint("id", i)
			calls = append(calls, model.ToolCall{ID: id, Name: name, Arguments: `{}`})
			want = append(want, answering.ToolCallRef{ID: id, Name: answering.UnknownTool})
		}
		want[4].Name = tool.DocumentsRAG
		result, _ := f.turn(f.Ask("what?"), calls...)
		if diff := cmp.Diff(want, result.ToolCalls); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("invalid ids are replaced by distinct ones", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		longest := strings.Repeat("i", 64)
		given := []string{"functions.documents_rag:0", longest, longest + "i", strings.Repeat("i", 1<<20), "a", "a", "with\nlines", "é", "call_1_3", "call_1_4", "call_1_4_"}
		var calls []model.ToolCall
		for _, id := range given {
			calls = append(calls, search(id))
		}
		result, stored := f.turn(f.Ask("what?"), calls...)
		var got []string
		for i, ref := range result.ToolCalls {
			got = append(got, ref.ID)
			if ref.ID != stored[i].ID {
				t.Errorf("call %d is %q in the workflow and %q in the blob", i, ref.ID, stored[i].ID)
			}
		}
		want := []string{"functions.documents_rag:0", longest, "call_1_3_", "call_1_4__", "a", "call_1_6", "call_1_7", "call_1_8", "call_1_3", "call_1_4", "call_1_4_"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("the next request to the model is consistent", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		run := f.Ask("what?")
		first, _ := f.turn(run, search(strings.Repeat("i", 100)), search("a"), search("a"), model.ToolCall{ID: "b", Name: "free text", Arguments: `{}`})
		turn := record.Turn{Key: first.Key}
		for i := range first.ToolCalls {
			turn.Outputs = append(turn.Outputs, record.ToolOutput{Failure: fmt.Sprint("failure ", i)})
		}
		_, err := do(f, f.Answering.CallModel, answering.ModelCallInput{RunRef: run, Turn: 2, Loop: record.Loop{Turns: []record.Turn{turn}}})
		f.Must(err)
		messages := f.Server.Requests()[1].Messages
		answered := messages[len(messages)-len(first.ToolCalls):]
		calls := messages[len(messages)-len(first.ToolCalls)-1].ToolCalls
		ids := map[string]bool{}
		for i, ref := range first.ToolCalls {
			if calls[i].ID != ref.ID || answered[i].ToolCallID != ref.ID || calls[i].Function.Name != ref.Name {
				t.Errorf("call %d is %+v, its answer is of %q and the workflow has %+v", i, calls[i], answered[i].ToolCallID, ref)
			}
			if want := fmt.Sprint("failure ", i); !strings.Contains(string(answered[i].Content), want) {
				t.Errorf("%q, want %s", answered[i].Content, want)
			}
			ids[ref.ID] = true
		}
		if len(ids) != 4 || len(calls) != 4 {
			t.Errorf("%d calls with %d ids", len(calls), len(ids))
		}
	})
}

func TestBoundsOfToolCalls(t *testing.T) {
	t.Parallel()

	t.Run("of a thousand calls those within the bound are run, and the model reads why", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.Publish(f.Upload("apples.txt", "Apples are picked in autumn."))
		var calls []model.ToolCall
		for i := range 1000 {
			calls = append(calls, search(fmt.Sprint("id", i)))
		}
		run := f.Ask("what?")
		result, stored := f.turn(run, calls...)
		if len(result.ToolCalls) != answering.MaxCalls+1 || len(stored) != len(result.ToolCalls) {
			t.Fatalf("%d calls, %d stored", len(result.ToolCalls), len(stored))
		}
		in := answering.ToolCallInput{RunRef: run, Turn: 1, Key: result.Key, Call: answering.MaxCalls - 1}
		output, err := do(f, f.Answering.CallTool, in)
		f.Must(err)
		if output.Kept != 1 {
			t.Errorf("the last call within the bound found %d passages", output.Kept)
		}
		in.Call++
		_, err = do(f, f.Answering.CallTool, in)
		f.FailedWith(err, knowledge.CodeInvalid, false)
		if message := step.Describe(err, knowledge.Failure{}).Message; !strings.Contains(message, fmt.Sprint("at most ", answering.MaxCalls)) {
			t.Errorf("the message for the model is %q", message)
		}
	})

	t.Run("arguments of megabytes are not stored", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		long := search("a")
		long.Arguments = `{"query":"` + strings.Repeat("x", 3<<20) + `"}`
		run := f.Ask("what?")
		result, stored := f.turn(run, long, search("b"))
		inHistory, err := json.Marshal(result)
		f.Must(err)
		if len(stored[0].Arguments) > 100 || stored[1].Arguments != search("").Arguments || len(inHistory) > 1<<10 {
			t.Errorf("stored %d and %d bytes, and %d in the result", len(stored[0].Arguments), len(stored[1].Arguments), len(inHistory))
		}
		_, err = do(f, f.Answering.CallTool, answering.ToolCallInput{RunRef: run, Turn: 1, Key: result.Key})
		f.FailedWith(err, knowledge.CodeInvalid, false)
		if message := step.Describe(err, knowledge.Failure{}).Message; !strings.Contains(message, "65536") {
			t.Errorf("the message for the model is %q", message)
		}
	})

	t.Run("a query at the limit may be escaped", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.Publish(f.Upload("apples.txt", "Apples are picked in autumn."))
		escaped := search("a")
		escaped.Arguments = `{"query":"apples ` + strings.Repeat(`\u0078`, 8<<10-len("apples ")) + `"}`
		run := f.Ask("what?")
		result, _ := f.turn(run, escaped)
		output, err := do(f, f.Answering.CallTool, answering.ToolCallInput{RunRef: run, Turn: 1, Key: result.Key})
		f.Must(err)
		if output.Kept != 1 {
			t.Errorf("output %+v", output)
		}
	})
}
