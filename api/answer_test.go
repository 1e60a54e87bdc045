package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/api"
	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// answered leaves a question of a user, whose answer cites a passage, and gives
// its run and its conversation.
func (e *edge) answered(owner access.Acting, key, conversation, document, chunk string) string {
	e.t.Helper()
	p, err := e.access.Authenticate(e.t.Context(), accessCredentials(key))
	if err == nil {
		p, err = e.access.As(e.t.Context(), p, owner)
	}
	if err != nil {
		e.t.Fatal(err)
	}
	ref := knowledge.RunRef{Workspace: "default", Run: knowledge.NewID()}
	result := record.Answer{
		Answer: "It says so.", ConversationID: conversation, Used: []int{1}, Sources: []record.Source{{Rank: 1, ChunkID: chunk, DocumentID: document}},
	}
	sources, err := json.Marshal(result.Sources)
	if err != nil {
		e.t.Fatal(err)
	}
	_, written := e.blobs.PutJSON(e.t.Context(), ref.AnswerKey(), result)
	_, searched := e.blobs.PutJSON(e.t.Context(), ref.FirstSearchKey(), record.Search{Passages: []record.Passage{{ChunkID: chunk, DocumentID: document}}})
	_, asked := e.blobs.PutJSON(e.t.Context(), ref.RequestKey(), knowledge.Request{Principal: p})
	added := e.store.AddRun(e.t.Context(), store.Run{
		ID: ref.Run, Workspace: "default", Kind: "query", Owner: p.Owner(), ConversationID: conversation, WorkflowID: "query/default/" + ref.Run,
	})
	ended := e.store.EndRun(e.t.Context(), "default", ref.Run, store.RunEnd{Status: knowledge.RunCompleted, ResultKey: ref.AnswerKey()})
	saved := e.store.SaveMessages(e.t.Context(), "default", store.Message{
		ID: knowledge.NewID(), ConversationID: conversation, RunID: ref.Run, Role: "assistant", Text: result.Answer, Sources: sources, ChunkIDs: []string{chunk}, Status: "completed",
	})
	if err := errors.Join(written, searched, asked, added, ended, saved); err != nil {
		e.t.Fatal(err)
	}
	return ref.Run
}

// told is a source of logs of questions that were answered.
type told struct{ ended }

func (s told) Stored(ctx context.Context, ref stream.RunRef) ([]stream.Item, bool, error) {
	items := make([]stream.Item, 0, 4)
	run := knowledge.RunRef{Workspace: ref.Workspace, Run: ref.Run}
	for _, entry := range []stream.Entry{
		record.QueryStarted(record.AnswerInput{}),
		must(stream.NewEntry(stream.TopicChosen, stream.Event{Data: stream.Data(record.Chosen{Searches: []string{run.FirstSearchKey()}})})),
		must(stream.NewEntry(stream.TopicSources, stream.Event{Ref: run.AnswerKey()})),
		must(stream.NewEntry(stream.TopicCompleted, stream.Event{Ref: run.AnswerKey()})),
	} {
		items = append(items, stream.Item{Topic: entry.Topic, Data: entry.Data, Offset: int64(len(items))})
	}
	_, over, err := s.ended.Stored(ctx, ref)
	return items, over, err
}

func must(e stream.Entry, err error) stream.Entry {
	if err != nil {
		panic(err)
	}
	return e
}

func openTold(t *testing.T) *edge {
	return open(t, func(_ *api.Config, d *api.Deps) {
		d.Relay = stream.NewRelay(told{ended{store: d.Followed}}, stream.NewHub())
	})
}

func TestPassagesOfAnAnswerWhoseAccessEnded(t *testing.T) {
	t.Parallel()
	e := openTold(t)
	const secret = "the words of the board"
	document := e.add(e.editor, "a.txt", "text", map[string]any{"access": map[string]any{"users": []string{"ann"}}})
	e.publish(document, knowledge.Chunk{Text: secret})
	chunk := knowledge.ChunkID(document, 1, 0)
	ann := access.Acting{User: "ann"}
	conversation := e.do("POST", own+"/conversations", e.editor, `{"userId":"ann"}`).want(201)["id"].(string)
	run := e.answered(ann, e.editor, conversation, document, chunk)
	link := "/runs/" + run + "/events?token=" + e.access.SignRun(e.principal(e.editor), run, e.later())
	reads := []string{own + "/conversations/" + conversation + "?userId=ann", own + "/runs/" + run + "?userId=ann", "/chunks/" + chunk + "?userId=ann", link}
	for _, path := range reads {
		if got := e.do("GET", path, e.editor, nil); got.status != 200 || !bytes.Contains(got.body, []byte(secret)) {
			t.Errorf("before, GET %s: %d %s", path, got.status, got.body)
		}
	}
	e.do("PATCH", own+"/documents/"+document, e.editor, `{"access":{"users":["carl"]}}`).want(200)
	for _, path := range reads {
		if got := e.do("GET", path, e.editor, nil); bytes.Contains(got.body, []byte(secret)) || got.status >= 500 {
			t.Errorf("after, GET %s: %d %s", path, got.status, got.body)
		}
	}
	if got := e.do("GET", "/chunks/"+chunk, e.editor, nil).want(200); got["text"] != secret {
		t.Errorf("who manages the document opens it: %v", got)
	}
}

// TestSourcesBeforeAnAnswer shows the passages that the model gets before the answer, and
// its sources behind it.
func TestSourcesBeforeAnAnswer(t *testing.T) {
	t.Parallel()
	e := openTold(t)
	document := e.add(e.editor, "a.txt", "text", nil)
	e.publish(document, knowledge.Chunk{Text: "words"})
	conversation := e.do("POST", own+"/conversations", e.editor, `{"userId":"ann"}`).want(201)["id"].(string)
	run := e.answered(access.Acting{User: "ann"}, e.editor, conversation, document, knowledge.ChunkID(document, 1, 0))
	got := e.do("GET", "/runs/"+run+"/events?userId=ann", e.editor, nil)
	type sources struct {
		Sources []struct {
			Rank           int
			Text           string
			UsedInResponse bool
		}
		Final *bool
	}
	var events []sources
	for _, part := range strings.Split(string(got.body), "event: sendSourcesMessage\n")[1:] {
		_, data, _ := strings.Cut(part, "data: ")
		data, _, _ = strings.Cut(data, "\n")
		var one sources
		if err := json.Unmarshal([]byte(data), &one); err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		events = append(events, one)
	}
	if len(events) != 2 {
		t.Fatalf("%d events in %s", len(events), got.body)
	}
	for i, final := range []bool{false, true} {
		if e := events[i]; e.Final == nil || *e.Final != final || len(e.Sources) != 1 || e.Sources[0].Rank != 1 || e.Sources[0].Text != "words" || e.Sources[0].UsedInResponse != final {
			t.Errorf("event %d: %+v", i+1, e)
		}
	}
}

func TestAttachmentsInAnAnswer(t *testing.T) {
	t.Parallel()
	e := openTold(t)
	const secret = "what was attached"
	conversation := e.do("POST", own+"/conversations", e.reader, `{"userId":"ann"}`).want(201)["id"].(string)
	document := e.do("POST", hooks+"/document?userId=ann", e.editor, map[string]any{"content": map[string]any{"text": "x"}, "conversationId": conversation}).want(202)["id"].(string)
	e.publish(document, knowledge.Chunk{Text: secret})
	run := e.answered(access.Acting{User: "ann"}, e.reader, conversation, document, knowledge.ChunkID(document, 1, 0))
	for _, path := range []string{own + "/conversations/" + conversation, own + "/runs/" + run, "/runs/" + run + "/events"} {
		if got := e.do("GET", path+"?userId=ann", e.reader, nil); !bytes.Contains(got.body, []byte(secret)) {
			t.Errorf("GET %s: %s", path, got.body)
		}
	}
}

func TestAnswersOfOthers(t *testing.T) {
	t.Parallel()
	e := openTold(t)
	conversation := e.do("POST", own+"/conversations", e.reader, `{"userId":"ann"}`).want(201)["id"].(string)
	run := e.answered(access.Acting{User: "ann"}, e.reader, conversation, "d", "c")
	if got := e.do("GET", "/runs/"+run, e.editor, nil).want(200); got["result"] != nil || got["status"] != "completed" {
		t.Errorf("with the write scope: %v", got)
	}
	e.do("GET", "/runs/"+run+"/events", e.editor, nil).refused(403, knowledge.CodeForbidden)
	e.do("GET", "/runs/"+run+"/events?userId=bob", e.editor, nil).refused(404, knowledge.CodeNotFound)
	for key, query := range map[string]string{e.admin: "", e.editor: "?userId=ann", e.reader: "?userId=ann"} {
		if got := e.do("GET", "/runs/"+run+query, key, nil).want(200); got["result"] == nil {
			t.Errorf("%q: %v", query, got)
		}
		if got := e.do("GET", "/runs/"+run+"/events"+query, key, nil); got.status != 200 || !bytes.Contains(got.body, []byte("It says so.")) {
			t.Errorf("events %q: %d %s", query, got.status, got.body)
		}
	}
	worn := "/runs/" + run + "/events?userId=ann&token=" + e.access.SignRun(e.principal(e.editor), run, time.Now().Add(-time.Minute))
	if got := e.do("GET", worn, e.reader, nil); got.status != 200 {
		t.Errorf("a valid key beside a token that has expired: %d %s", got.status, got.body)
	}
	e.do("GET", worn, "cairn_unknown", nil).refused(401, knowledge.CodeUnauthorized)
	e.do("GET", worn, "", nil).refused(401, knowledge.CodeUnauthorized)
	token := "/runs/" + run + "/events?token=" + e.access.SignRun(e.principal(e.editor), run, e.later())
	e.do("GET", "/workspaces/other"+token, "", nil).refused(404, knowledge.CodeNotFound)
	if got := e.do("GET", own+token, "", nil); got.status != 200 {
		t.Errorf("in its workspace: %d %s", got.status, got.body)
	}
}
