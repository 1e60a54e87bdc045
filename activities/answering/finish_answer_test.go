package answering_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/internal/tool"
)

// talk stores a question of a conversation with the row of its run.
func (f *fixture) talk(question string) knowledge.RunRef {
	f.Helper()
	conversation := knowledge.NewID()
	_, err := f.Store.EnsureConversation(f.Ctx, activitytest.Member(), store.Conversation{ID: conversation, Workspace: "w", Owner: activitytest.Member().Owner()})
	f.Must(err)
	run := f.Ask(question, func(r *knowledge.Request) {
		r.ConversationID, r.QuestionID, r.MessageID, r.ExecutionID = conversation, knowledge.NewID(), knowledge.NewID(), "call_1"
	})
	f.Must(f.Store.AddRun(f.Ctx, store.Run{
		ID: run.Run, Workspace: "w", Project: "p", Kind: "query", Status: knowledge.RunRunning, Owner: activitytest.Member().Owner(),
		ConversationID: conversation, CreatedAt: time.Now(),
	}))
	return run
}

func (f *fixture) messages(run knowledge.RunRef) []store.Message {
	f.Helper()
	row, err := f.Store.RunForSystem(f.Ctx, "w", run.Run)
	f.Must(err)
	talk, err := f.Store.History(f.Ctx, activitytest.Member(), row.ConversationID, 10)
	f.Must(err)
	return talk.Messages
}

// items returns events as items of a log, from an offset on.
func (f *fixture) items(offset int64, entries ...stream.Event) []stream.Item {
	f.Helper()
	var items []stream.Item
	for i, e := range entries {
		topic := stream.TopicDelta
		if e.Text == "" {
			topic = stream.TopicReset
		}
		entry, err := stream.NewEntry(topic, e)
		f.Must(err)
		items = append(items, stream.Item{Topic: topic, Data: entry.Data, Offset: offset + int64(i)})
	}
	return items
}

func TestFinishAnswer(t *testing.T) {
	t.Parallel()

	t.Run("the answer, its log and its conversation are stored once", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.Publish(f.Upload("apples.txt", "Apples are picked in autumn."))
		f.Publish(f.Upload("pears.txt", "Pears are picked in apples' company."))
		run := f.talk("when are apples picked?")
		search, err := do(f, f.Answering.SearchKnowledge, answering.SearchInput{RunRef: run})
		f.Must(err)
		loop := record.Loop{Found: search.Found}
		f.Server.ScriptChat(modeltest.Call(
			model.ToolCall{ID: "a", Name: tool.DocumentsRAG, Arguments: `{"query":"pears"}`},
			model.ToolCall{ID: "b", Name: answering.UnknownTool, Arguments: `{}`},
		), modeltest.Text("In autumn <source_1>."))
		called, err := do(f, f.Answering.CallModel, answering.ModelCallInput{RunRef: run, Turn: 1, Loop: loop})
		f.Must(err)
		output, err := do(f, f.Answering.CallTool, answering.ToolCallInput{RunRef: run, Turn: 1, Key: called.Key})
		f.Must(err)
		loop.Searches = append(loop.Searches, output.Search)
		loop.Turns = []record.Turn{{Key: called.Key, Outputs: []record.ToolOutput{output, {Failure: "there is no such tool"}}}}
		answered, err := do(f, f.Answering.CallModel, answering.ModelCallInput{RunRef: run, Turn: 2, Loop: loop})
		f.Must(err)
		loop.Answer, loop.Usage = answered.Key, knowledge.Usage{PromptTokens: 7, CompletionTokens: 5, ModelCalls: 2}

		in := answering.FinishAnswerInput{RunRef: run, Loop: loop, Status: "completed", Workflow: "AnswerQuery", Items: f.items(0, stream.Event{Text: "In autumn"})}
		f.Must(act(f, f.Answering.FinishAnswer, in))
		row, err := f.Store.RunForSystem(f.Ctx, "w", run.Run)
		f.Must(err)
		messages := f.messages(run)
		f.Must(act(f, f.Answering.FinishAnswer, in))
		again, err := f.Store.RunForSystem(f.Ctx, "w", run.Run)
		f.Must(err)
		if diff := cmp.Diff(row, again); diff != "" || row.Status != knowledge.RunCompleted {
			t.Errorf("status %s, then %s", row.Status, diff)
		}
		var usage knowledge.Usage
		f.Must(json.Unmarshal(row.Usage, &usage))
		if usage != loop.Usage {
			t.Errorf("usage %+v", usage)
		}

		var answer record.Answer
		f.Must(f.Blobs.GetJSON(f.Ctx, row.ResultKey, &answer))
		cited := answer.Sources[0].ChunkID
		if want := `In autumn <citation id="` + cited + `">[1]</citation>.`; answer.Answer != want || len(answer.Sources) != 2 {
			t.Errorf("answer %q with %d sources, want %q", answer.Answer, len(answer.Sources), want)
		}
		if diff := cmp.Diff([]int{1}, answer.Used); diff != "" {
			t.Error(diff)
		}
		want := []record.CalledTool{
			{ID: "a", Name: tool.DocumentsRAG, Arguments: `{"query":"pears"}`, Status: "completed"},
			{ID: "b", Name: answering.UnknownTool, Arguments: `{}`, Status: "failed"},
		}
		if diff := cmp.Diff(want, answer.ToolCalls); diff != "" {
			t.Error(diff)
		}

		if n := len(f.messages(run)); len(messages) != 2 || n != 2 {
			t.Fatalf("%d messages, then %d", len(messages), n)
		}
		if messages[0].Role != "user" || messages[0].Text != "when are apples picked?" || messages[1].Text != answer.Answer {
			t.Errorf("messages %+v", messages)
		}
		f.Remove(answer.Sources[0].DocumentID) // a cited chunk is remembered as one
		if _, err := f.Store.Chunk(f.Ctx, activitytest.Member(), cited); !knowledge.IsCode(err, knowledge.CodeGone) {
			t.Errorf("the cited chunk of a removed document: %v", err)
		}
	})

	t.Run("a question without a conversation stores no messages", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		run := f.Ask("what?")
		f.Must(f.Store.AddRun(f.Ctx, store.Run{ID: run.Run, Workspace: "w", Project: "p", Kind: "tool", Status: knowledge.RunRunning, CreatedAt: time.Now()}))
		f.AnswerWith(func(d *answering.Dependencies) { d.Chat = replies("an answer") })
		answered, err := do(f, f.Answering.CallModel, answering.ModelCallInput{RunRef: run, Turn: 1, NoTools: true})
		f.Must(err)
		in := answering.FinishAnswerInput{RunRef: run, Loop: record.Loop{Answer: answered.Key}, Status: "completed", Workflow: "RunTool"}
		f.Must(act(f, f.Answering.FinishAnswer, in))
		conversations, _, err := f.Store.Conversations(f.Ctx, activitytest.Member(), store.Page{})
		if err != nil || len(conversations) != 0 {
			t.Errorf("%d conversations, %v", len(conversations), err)
		}
	})
}

func TestFinishAnswerEndsTheRun(t *testing.T) {
	t.Parallel()

	for status, end := range map[knowledge.RunStatus]store.RunEnd{
		"failed":   {Status: knowledge.RunFailed, Error: &knowledge.Failure{Code: knowledge.CodeProviderFailed, Message: "the model failed"}},
		"canceled": {Status: knowledge.RunCanceled, Error: &knowledge.Failure{Code: knowledge.CodeCanceled, Message: "canceled on request"}},
	} {
		t.Run("a run that "+string(status)+" keeps the words that readers have", func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			run := f.talk("what?")
			in := answering.FinishAnswerInput{
				RunRef: run, Status: status, Code: end.Error.Code, Message: end.Error.Message, Workflow: "AnswerQuery",
				Items: f.items(0, stream.Event{Turn: 1, Text: "dropped "}, stream.Event{Turn: 1}, stream.Event{Turn: 1, Text: "half an "},
					stream.Event{Turn: 1, Text: `answer <citation id="c">[1]</citation>`}),
			}
			for range 2 {
				f.Must(act(f, f.Answering.FinishAnswer, in))
			}
			row, err := f.Store.RunForSystem(f.Ctx, "w", run.Run)
			f.Must(err)
			if diff := cmp.Diff(end.Error, row.Error); diff != "" || row.Status != end.Status || row.ResultKey != "" {
				t.Errorf("status %s, result %q, %s", row.Status, row.ResultKey, diff)
			}
			messages := f.messages(run)
			if len(messages) != 2 || messages[1].Text != "half an answer " && messages[1].Text != "half an answer" || messages[1].Status != string(status) {
				t.Errorf("messages %+v", messages)
			}
		})
	}

	t.Run("the stored log has the segments in order", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		run := f.talk("what?")
		for n, text := range []string{"one ", "two "} {
			for range 2 { // a repeat stores the same
				f.Must(act(f, f.Answering.StoreSegment, answering.SegmentInput{RunRef: run, Number: n, Items: f.items(int64(n), stream.Event{Text: text})}))
			}
		}
		in := answering.FinishAnswerInput{
			RunRef: run, Status: "failed", Code: knowledge.CodeInternal, Workflow: "AnswerQuery", Segments: 2,
			Items: f.items(2, stream.Event{Text: "three"}),
		}
		f.Must(act(f, f.Answering.FinishAnswer, in))
		row, err := f.Store.RunForSystem(f.Ctx, "w", run.Run)
		f.Must(err)
		var log stream.StoredLog
		f.Must(f.Blobs.GetJSON(f.Ctx, row.LogKey, &log))
		if text, _ := activitytest.ReadAnswer(t, log.Items); text != "one two three" || len(log.Items) != 3 {
			t.Errorf("the log says %q in %d items", text, len(log.Items))
		}
		if text := f.messages(run)[1].Text; text != "one two three" {
			t.Errorf("the message says %q", text)
		}
	})

	t.Run("a missing answer does not end the run", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		run := f.talk("what?")
		in := answering.FinishAnswerInput{RunRef: run, Loop: record.Loop{Answer: run.TurnKey(1)}, Status: "completed"}
		f.FailedWith(act(f, f.Answering.FinishAnswer, in), knowledge.CodeInternal, true)
		if row, err := f.Store.RunForSystem(f.Ctx, "w", run.Run); err != nil || row.Status != knowledge.RunRunning {
			t.Errorf("the run is %s, %v", row.Status, err)
		}
	})
}
