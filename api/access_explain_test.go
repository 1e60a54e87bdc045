package api_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// effects returns the effects of an explanation as kind and effect, and whether it allows.
func (a answer) effects() (allowed bool, effects []string) {
	a.t.Helper()
	view := a.want(200)
	for _, one := range view["because"].([]any) {
		reason := one.(map[string]any)
		effects = append(effects, reason["kind"].(string)+" "+reason["effect"].(string))
	}
	return view["allowed"].(bool), effects
}

func TestExplainAccess(t *testing.T) {
	t.Parallel()
	e := open(t)
	id := e.add(e.editor, "contract", "text", map[string]any{"access": map[string]any{"users": []string{"ann"}, "groups": []string{"legal", "board"}}})
	e.publish(id, knowledge.Chunk{Text: "text"})
	route := own + "/access/explain?document_id=" + id
	before := []string{"workspace allow", "project allow", "removal allow", "status allow", "version allow", "classification allow"}
	for query, want := range map[string]struct {
		allowed bool
		last    []string
	}{
		"&user=ann":                     {true, []string{"user allow"}},
		"&user=bob&groups=press,legal":  {true, []string{"group allow"}},
		"&user=ann&groups=legal,board":  {true, []string{"group allow", "group allow", "user allow"}},
		"&user=bob&groups=press":        {false, []string{"access deny"}},
		"&external_user=ann":            {false, []string{"access deny"}},
		"":                              {false, []string{"access deny"}},
		"&user=ann&groups=":             {true, []string{"user allow"}},
		"&user=eve&groups=legal%2Cpres": {true, []string{"group allow"}},
	} {
		allowed, effects := e.do("GET", route+query, e.admin, nil).effects()
		if diff := cmp.Diff(append(before[:len(before):len(before)], want.last...), effects); diff != "" || allowed != want.allowed {
			t.Errorf("%q is allowed %t: %s", query, allowed, diff)
		}
	}
	// What it says of ann is what a search of ann gets.
	if got := e.do("GET", own+"/documents/"+id+"?userId=ann", e.reader, nil); got.status != 200 {
		t.Errorf("ann opens it: %d", got.status)
	}
	e.do("GET", own+"/documents/"+id+"?userId=bob", e.reader, nil).refused(404, knowledge.CodeNotFound)
}

func TestWhoMayExplainAccess(t *testing.T) {
	t.Parallel()
	e := open(t)
	if err := e.store.CreateProject(t.Context(), knowledge.Project{ID: "press", Workspace: "default", Name: "Press"}); err != nil {
		t.Fatal(err)
	}
	admin := func(project string) string {
		return e.key(store.Key{Workspace: "default", Project: project, Scopes: []knowledge.Scope{knowledge.ScopeAdmin}})
	}
	id := e.add(e.editor, "a", "text")
	e.publish(id, knowledge.Chunk{Text: "text"})
	route := own + "/access/explain?user=ann&document_id="
	if allowed, _ := e.do("GET", route+id, admin("default"), nil).effects(); !allowed {
		t.Error("the administrator of its project is told that ann does not see it")
	}
	e.do("GET", route+id, e.reader, nil).refused(403, knowledge.CodeForbidden)
	e.do("GET", route+id, e.editor, nil).refused(403, knowledge.CodeForbidden)
	e.do("GET", route+id, admin("press"), nil).refused(404, knowledge.CodeNotFound)
	e.do("GET", route+id, e.stranger, nil).refused(404, knowledge.CodeNotFound)
	e.do("GET", "/workspaces/other/access/explain?document_id="+id, e.stranger, nil).refused(404, knowledge.CodeNotFound)
	e.do("GET", route+"none", e.admin, nil).refused(404, knowledge.CodeNotFound)
	e.do("GET", own+"/access/explain?user=ann", e.admin, nil).refused(422, knowledge.CodeInvalid)
	e.do("GET", route+id+"&external_user=42", e.admin, nil).refused(422, knowledge.CodeInvalid)
	e.do("GET", route+id+"&key_id=none", e.admin, nil).refused(404, knowledge.CodeNotFound)
}
