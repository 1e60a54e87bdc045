package api_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// TestFeedback rates an answer of ann: she may, bob may not, and an administrator reads
// what she said.
func TestFeedback(t *testing.T) {
	t.Parallel()
	e := open(t)
	id := e.add(e.editor, "harbour.md", "text", nil)
	e.publish(id, knowledge.Chunk{Text: "The northern pier has a lighthouse."})
	const talk = "00000000-0000-4000-8000-000000000001"
	acting := access.Acting{ExternalUser: "ann"}
	p := e.actAs(e.principal(e.reader), "ann")
	if _, err := e.store.EnsureConversation(t.Context(), p, store.Conversation{ID: talk, Workspace: "default", Title: "Piers"}); err != nil {
		t.Fatal(err)
	}
	run := e.answered(acting, e.reader, talk, id, knowledge.ChunkID(id, 1, 0))
	const ann, bob = "?externalUserId=ann", "?externalUserId=bob"
	path := own + "/runs/" + run + "/feedback"
	e.do("POST", path+ann, e.reader, map[string]any{"rating": "up"}).want(200)
	given := map[string]any{"rating": "down", "comment": "the wrong pier", "expected": "the southern one"}
	got := e.do("POST", path+ann, e.reader, given).want(200)
	given["own"], given["created_at"] = true, got["created_at"]
	if diff := cmp.Diff(given, got); diff != "" {
		t.Error(diff)
	}
	e.do("POST", path+bob, e.reader, map[string]any{"rating": "up"}).refused(404, knowledge.CodeNotFound)
	e.do("GET", path+bob, e.reader, nil).refused(404, knowledge.CodeNotFound)
	e.do("POST", path+ann, e.reader, map[string]any{"rating": "sideways"}).refused(422, knowledge.CodeInvalid)
	given["own"] = false
	if diff := cmp.Diff([]any{given}, e.do("GET", path, e.admin, nil).want(200)["data"]); diff != "" {
		t.Error(diff)
	}
	messages := e.do("GET", own+"/conversations/"+talk+ann, e.reader, nil).want(200)["messages"].([]any)
	if last := messages[len(messages)-1].(map[string]any); last["rating"] != "down" {
		t.Errorf("the message is %v, want it rated", last)
	}
	ingest := e.dispatched(id).RunID
	e.do("POST", own+"/runs/"+ingest+"/feedback", e.admin, map[string]any{"rating": "up"}).refused(409, knowledge.CodeConflict)

	renamed := e.do("PATCH", own+"/conversations/"+talk+ann, e.reader, map[string]any{"title": "Lighthouses"}).want(200)
	if listed := e.do("GET", own+"/conversations"+ann, e.reader, nil).want(200)["data"]; !cmp.Equal(listed, any([]any{renamed})) || renamed["title"] != "Lighthouses" {
		t.Errorf("renamed to %v, listed %v", renamed, listed)
	}
	e.do("PATCH", own+"/conversations/"+talk+bob, e.reader, map[string]any{"title": "Mine"}).refused(404, knowledge.CodeNotFound)
	e.do("PATCH", own+"/conversations/"+talk+ann, e.reader, map[string]any{"title": ""}).refused(422, knowledge.CodeInvalid)
	if shown := e.do("GET", own+"/runs/"+run+ann, e.reader, nil).want(200); shown["conversation_id"] != talk {
		t.Errorf("the run is %v, want its conversation", shown)
	}
}
