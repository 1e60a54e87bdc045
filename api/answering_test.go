package api_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/api"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// answering gives every question the same answer at once, in place of the
// workflows.
type answering struct {
	edge   *edge
	hub    *stream.Hub
	record record.Answer
	said   []said             // while it answers
	failed *knowledge.Failure // the end in place of an answer

	mu     sync.Mutex
	inputs []record.AnswerInput
	logs   map[string][]stream.Item // by run
}

// said is an event of an answer: words, unless it has another topic.
type said struct{ topic, text string }

// openAnswering opens an edge whose questions get this answer.
func openAnswering(t *testing.T, result record.Answer) (*edge, *answering) {
	t.Helper()
	a := &answering{record: result}
	return a.open(t), a
}

func (a *answering) open(t *testing.T, change ...func(*api.Config, *api.Deps)) *edge {
	t.Helper()
	a.hub, a.logs = stream.NewHub(), map[string][]stream.Item{}
	a.edge = open(t, append(change, func(_ *api.Config, d *api.Deps) {
		d.Answers, d.Relay = a, stream.NewRelay(a, a.hub)
	})...)
	return a.edge
}

func (a *answering) Answer(ctx context.Context, kind knowledge.RunKind, in record.AnswerInput) error {
	result := a.record
	result.MessageID, result.ConversationID, result.ExecutionID = in.MessageID, in.ConversationID, in.ExecutionID
	if _, err := a.edge.blobs.PutJSON(ctx, in.AnswerKey(), result); err != nil {
		return err
	}
	first, topic := record.QueryStarted(in), stream.TopicCompleted
	if kind == "tool" {
		first, topic = record.ToolStarted(in), stream.TopicToolEnd
	}
	entries := []stream.Entry{first}
	for _, e := range a.said {
		said := stream.Event{Text: e.text}
		if e.topic == stream.TopicToolCall {
			said = stream.Event{Data: json.RawMessage(e.text)}
		}
		entry, err := stream.NewEntry(topicOf(e), said)
		if err != nil {
			return err
		}
		entries = append(entries, entry)
	}
	last, err := stream.NewEntry(topic, stream.Event{Ref: in.AnswerKey()})
	if a.failed != nil {
		last, err = stream.NewEntry(stream.TopicError, stream.Event{Data: stream.Data(a.failed)})
	}
	if err != nil {
		return err
	}
	var items []stream.Item
	for i, e := range append(entries, last) {
		items = append(items, stream.Item{Topic: e.Topic, Data: e.Data, Offset: int64(i)})
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.inputs = append(a.inputs, in)
	a.logs[in.Run] = items
	end := store.RunEnd{Status: knowledge.RunCompleted, ResultKey: in.AnswerKey(), At: time.Now()}
	if a.failed != nil {
		end.Status, end.Error = knowledge.RunFailed, a.failed
	}
	if err := a.edge.store.EndRun(ctx, in.Workspace, in.Run, end); err != nil {
		return err
	}
	a.hub.Finish(in.Run, a.logs[in.Run][1:])
	return nil
}

func (a *answering) Stored(_ context.Context, ref stream.RunRef) ([]stream.Item, bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	items, ok := a.logs[ref.Run]
	return items, ok, nil
}

func (a *answering) Query(context.Context, stream.RunRef, int64) (stream.EventsPage, error) {
	return stream.EventsPage{}, nil
}

func (a *answering) Settle(context.Context, stream.RunRef) error { return nil }

// last is the input of the newest run.
func (a *answering) last() record.AnswerInput {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.inputs[len(a.inputs)-1]
}

// TestProjectOfAQuestion asks in a project in every way that it can be meant.
func TestProjectOfAQuestion(t *testing.T) {
	t.Parallel()
	e, a := openAnswering(t, record.Answer{Answer: "Yes."})
	made := e.do("POST", hooks+"/projects", e.admin, `{"name":"The House","slug":"house"}`).want(200)
	held, wide := made["apiKey"].(string), e.editor
	for name, ask := range map[string]struct{ key, path, body string }{
		"query/a_key_to_it":                {held, hooks + "/query", `{"text":"a"}`},
		"query/a_key_to_it_and_its_name":   {held, hooks + "/query", `{"text":"a","projectId":"The House"}`},
		"query/its_name":                   {wide, hooks + "/query", `{"text":"a","projectId":"The House"}`},
		"query/its_id":                     {wide, hooks + "/query", `{"text":"a","projectId":"house"}`},
		"events/a_key_to_it":               {held, hooks + "/query", `{"text":"a","sse":true}`},
		"rag_search/a_key_to_it":           {held, "/tools/rag_search", `{"query":"a"}`},
		"rag_search/its_name":              {wide, "/tools/rag_search", `{"query":"a","project_id":"The House"}`},
		"rag_search_events/its_name":       {wide, "/tools/rag_search", `{"query":"a","project_id":"The House","stream":true}`},
		"rag_search_events/a_key_to_it":    {held, "/tools/rag_search", `{"query":"a","stream":true}`},
		"rag_search/a_key_to_it_and_an_id": {held, "/tools/rag_search", `{"query":"a","project_id":"house"}`},
	} {
		t.Run(name, func(t *testing.T) {
			got := e.do("POST", ask.path, ask.key, ask.body)
			if got.status != 200 {
				t.Fatalf("%d %s", got.status, got.body)
			}
			if strings.HasPrefix(got.header.Get("Content-Type"), "text/event-stream") && !strings.Contains(string(got.body), "id: 2\n") {
				t.Errorf("events:\n%s", got.body)
			}
			run := got.header.Get("Cairn-Run-Id")
			if project := e.do("GET", "/runs/"+run, held, nil).want(200)["project_id"]; project != "house" {
				t.Errorf("the run is of project %v", project)
			}
			in := a.last()
			var request knowledge.Request
			if err := e.blobs.GetJSON(t.Context(), in.RequestKey(), &request); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"house"}, request.Projects); diff != "" || in.Project != "house" {
				t.Errorf("the workflow's project is %q, of the search: %s", in.Project, diff)
			}
			if in.ConversationID != "" {
				c := e.do("GET", own+"/conversations/"+in.ConversationID, ask.key, nil).want(200)
				if c["project_id"] != "house" {
					t.Errorf("the conversation is of project %v", c["project_id"])
				}
			}
		})
	}
	t.Run("runs_are_listed_by_either", func(t *testing.T) {
		for _, project := range []string{"house", "The+House"} {
			if list := e.do("GET", own+"/runs?project_id="+project, e.editor, nil).want(200)["data"].([]any); len(list) != 10 {
				t.Errorf("%s: %d runs", project, len(list))
			}
		}
		e.do("GET", own+"/runs?project_id=nope", e.editor, nil).refused(404, knowledge.CodeNotFound)
	})
	t.Run("runs_are_listed_by_conversation", func(t *testing.T) {
		made := e.do("POST", hooks+"/query", wide, `{"text":"a"}`).want(200)
		for conversation, want := range map[string]int{made["conversationId"].(string): 1, "nope": 0} {
			if list := e.do("GET", own+"/runs?kind=query&conversation_id="+conversation, e.editor, nil).want(200)["data"].([]any); len(list) != want {
				t.Errorf("of the conversation %s: %d runs, want %d", conversation, len(list), want)
			}
		}
	})
	t.Run("none", func(t *testing.T) {
		got := e.do("POST", hooks+"/query", wide, `{"text":"a"}`)
		if run := e.do("GET", "/runs/"+got.want(200)["runId"].(string), wide, nil).want(200); run["project_id"] != nil {
			t.Errorf("the run is of project %v", run["project_id"])
		}
	})
}

func topicOf(s said) string {
	if s.topic == "" {
		return stream.TopicDelta
	}
	return s.topic
}
