package api_test

import (
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
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
	query := e.addRun("query-1", knowledge.KindQuery)
	e.do("POST", own+"/runs/"+query+"/messages", e.admin, `{"text":"a"}`).refused(409, knowledge.CodeConflict)
	e.work.unknown = true
	e.do("POST", path+"/messages", e.admin, `{"text":"a"}`).refused(503, knowledge.CodeUnavailable)
}
