package api_test

import (
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// TestRunsOfAPerson lists the runs that a person or a user of an application started, to
// those who manage them.
func TestRunsOfAPerson(t *testing.T) {
	t.Parallel()
	e := open(t)
	for id, owner := range map[string]string{"of-ann": "u:ann", "of-customer": "x:ann:2", "of-key": "k:ann"} {
		if err := e.store.AddRun(t.Context(), store.Run{ID: id, Workspace: "default", Kind: knowledge.KindQuery, Status: knowledge.RunRunning, Owner: owner, CreatedAt: time.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	for person, want := range map[string]string{"ann": "of-ann", "ann:2": "of-customer", "bob": ""} {
		list := e.do("GET", own+"/runs?person="+person, e.admin, nil).want(200)["data"].([]any)
		switch {
		case want == "" && len(list) != 0, want != "" && len(list) != 1:
			t.Errorf("%s has the runs %v", person, list)
		case want != "" && (list[0].(map[string]any)["id"] != want || list[0].(map[string]any)["person"] != person):
			t.Errorf("%s has the run %v", person, list[0])
		}
	}
	if run := e.do("GET", own+"/runs/of-key", e.admin, nil).want(200); run["person"] != nil {
		t.Errorf("a run of a key: %v", run)
	}
	if list := e.do("GET", own+"/runs?person=ann", e.reader, nil).want(200)["data"].([]any); len(list) != 0 {
		t.Errorf("a reader sees %v", list)
	}
}
