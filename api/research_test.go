package api_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

func (e *edge) addRun(id string, kind knowledge.RunKind) string {
	e.t.Helper()
	if err := e.store.AddRun(e.t.Context(), store.Run{ID: id, Workspace: "default", Kind: kind, Status: knowledge.RunRunning, Owner: "of nobody here", CreatedAt: time.Now()}); err != nil {
		e.t.Fatal(err)
	}
	return id
}

func TestResearch(t *testing.T) {
	t.Parallel()
	e := open(t)
	run := e.addRun("research-1", knowledge.KindResearch)
	path := own + "/runs/" + run
	if got := e.do("GET", path, e.admin, nil).want(200); got["kind"] != "research" {
		t.Errorf("run %v", got)
	}
	e.do("POST", path+"/messages", e.admin, `{"text":"Look at the pumps"}`).want(202)
	e.do("POST", path+"/pause", e.admin, nil).want(202)
	e.do("POST", path+"/resume", e.admin, nil).want(202)
	if c := e.work.controls; len(c) != 3 || c[0].Message == "" || c[0].Paused != nil || !*c[1].Paused || *c[2].Paused {
		t.Errorf("controls %+v", c)
	}
	e.do("POST", path+"/messages", e.admin, `{"text":" "}`).refused(422, knowledge.CodeInvalid)
	e.do("POST", path+"/messages", e.stranger, `{"text":"a"}`).refused(404, knowledge.CodeNotFound)
	e.do("POST", own+"/runs/none/messages", e.admin, `{"text":"a"}`).refused(404, knowledge.CodeNotFound)
	tool := e.addRun("tool-1", knowledge.KindTool)
	e.do("POST", own+"/runs/"+tool+"/messages", e.admin, `{"text":"a"}`).refused(409, knowledge.CodeConflict)
	e.work.unknown = true
	e.do("POST", path+"/messages", e.admin, `{"text":"a"}`).refused(503, knowledge.CodeUnavailable)
}

// TestNotesOfAResearch reads the notes that rest on passages which the reader sees, and not
// the others.
func TestNotesOfAResearch(t *testing.T) {
	t.Parallel()
	e := open(t)
	add := func(name string, more map[string]any) (id, chunk string) {
		id = e.add(e.editor, name, "some text", more)
		e.publish(id, knowledge.Chunk{Text: "some words"})
		return id, knowledge.ChunkID(id, 1, 0)
	}
	id, seen := add("lights", nil)
	_, hidden := add("wages", map[string]any{"access": map[string]any{"users": []string{"nobody"}}})
	ref := knowledge.RunRef{Workspace: "default", Run: knowledge.NewID()}
	note := func(text string, chunks ...string) map[string]any {
		return map[string]any{"text": text, "chunks": chunks, "pages": []string{"https://example.com/"}}
	}
	both, count := []map[string]any{note("A lighthouse stands there.", seen), note("Wages are low.", seen, hidden)}, 2
	_, plan := e.blobs.PutJSON(t.Context(), ref.ResearchKey("plan-1"), map[string]any{"questions": []map[string]any{{"question": "What is there?"}, {"question": "And now?"}}})
	_, first := e.blobs.PutJSON(t.Context(), ref.ResearchNotesKey(1, 1), map[string]any{"notes": both, "missing": "Why are they low?"})
	_, second := e.blobs.PutJSON(t.Context(), ref.ResearchNotesKey(1, 2), map[string]any{"notes": both[:1], "missing": "Is it lit?"})
	added := e.store.AddRun(t.Context(), store.Run{ID: ref.Run, Workspace: "default", Kind: knowledge.KindResearch, CreatedAt: time.Now()})
	ended := e.store.EndRun(t.Context(), "default", ref.Run, store.RunEnd{Status: knowledge.RunCompleted, At: time.Now()})
	for i := range 3 { // the third was deleted
		entry, err := stream.NewEntry(stream.TopicResearch, stream.Event{Ref: ref.ResearchKey("plan-1"), Data: stream.Data(record.ResearchData{Phase: "notes", Status: "completed", Round: 1, Question: i + 1, Notes: &count})})
		if err := errors.Join(plan, first, second, added, ended, err); err != nil {
			t.Fatal(err)
		}
		e.logs[ref.Run] = append(e.logs[ref.Run], stream.Item{Topic: entry.Topic, Data: entry.Data, Offset: int64(i)})
	}
	events := e.events(ref.Run)
	want := []any{map[string]any{"text": "A lighthouse stands there.", "documents": []any{map[string]any{"id": id, "name": "lights"}}, "pages": []any{"https://example.com/"}}}
	for i, missing := range []any{nil, "Is it lit?"} {
		if diff := cmp.Diff(want, events[i]["taken"]); diff != "" || events[i]["open"] != missing {
			t.Errorf("question %d leaves open %v (-want +got)\n%s", i+1, events[i]["open"], diff)
		}
	}
	if events[2]["taken"] != nil || events[2]["notes"] != 2.0 {
		t.Errorf("deleted notes: %v", events[2])
	}
}
