package api_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
)

func TestDecisions(t *testing.T) {
	t.Parallel()
	e := open(t)
	owner, err := e.access.Authenticate(t.Context(), accessCredentials(e.editor))
	if err != nil {
		t.Fatal(err)
	}
	run := store.Run{ID: knowledge.NewID(), Workspace: "default", Kind: knowledge.KindQuery, Owner: owner.Owner()}
	run.WorkflowID = run.Kind.WorkflowID(run.Workspace, run.ID)
	if err := e.store.AddRun(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	calls := "/runs/" + run.ID + "/calls/"
	approve := map[string]any{"decision": "approve"}
	e.do("POST", calls+"waits", e.reader, approve).refused(404, knowledge.CodeNotFound)
	e.do("POST", calls+"waits", e.editor, map[string]any{"decision": "perhaps"}).refused(422, knowledge.CodeInvalid)
	e.do("POST", calls+"other", e.editor, approve).refused(409, knowledge.CodeConflict)
	e.do("POST", "/runs/"+knowledge.NewID()+"/calls/waits", e.editor, approve).refused(404, knowledge.CodeNotFound)
	e.do("POST", calls+"waits", e.editor, approve).want(200)
	e.do("POST", "/workspaces/default"+calls+"waits", e.editor, map[string]any{"decision": "refuse", "reason": "too dear"}).want(200)

	if n := len(e.work.decisions); n != 2 || e.work.decisions[0].Refusal != "" {
		t.Fatalf("%d decisions: %+v", n, e.work.decisions)
	}
	var told record.ToolWords
	if err := e.blobs.GetJSON(t.Context(), e.work.decisions[1].Refusal, &told); err != nil || !strings.HasSuffix(told.Words, "too dear") {
		t.Errorf("the model is told %q, %v", told.Words, err)
	}
}
