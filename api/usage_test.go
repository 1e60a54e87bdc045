package api_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/api"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func TestProjectUsage(t *testing.T) {
	t.Parallel()
	e := open(t)
	day := func(n int) time.Time { return time.Date(2026, 3, n, 12, 0, 0, 0, time.UTC) }
	for i, run := range []struct {
		project string
		at      time.Time
		status  knowledge.RunStatus
		usage   string
	}{
		{"default", day(1), knowledge.RunCompleted, `{"prompt_tokens":10,"completion_tokens":2,"model_calls":1,"embedding_calls":1,"embedding_tokens":9,"rerank_calls":2,"rerank_tokens":30,"model":"large","seconds":1.5}`},
		{"default", day(1), knowledge.RunCompleted, `{"prompt_tokens":20,"completion_tokens":3,"model_calls":2,"model":"large","seconds":2}`},
		{"default", day(1), knowledge.RunCompleted, `{"prompt_tokens":5,"completion_tokens":1,"model_calls":1,"model":"small","seconds":1}`},
		{"default", day(2), knowledge.RunFailed, `{"prompt_tokens":7,"completion_tokens":0,"model_calls":1}`},
		{"default", day(3), knowledge.RunCompleted, `{"prompt_tokens":100,"completion_tokens":0,"model_calls":1}`},
		{"default", day(2), knowledge.RunRunning, ""},
		{"second", day(1), knowledge.RunCompleted, `{"prompt_tokens":1000,"completion_tokens":0,"model_calls":1}`},
	} {
		id := fmt.Sprintf("used-%d", i)
		if run.project == "second" && e.do("POST", hooks+"/projects", e.admin, `{"name":"Second","slug":"second"}`).status != 200 {
			t.Fatal("no second project")
		}
		if err := e.store.AddRun(t.Context(), store.Run{ID: id, Workspace: "default", Project: run.project, Kind: knowledge.KindQuery, WorkflowID: id, CreatedAt: run.at}); err != nil {
			t.Fatal(err)
		}
		if run.status != knowledge.RunRunning {
			if err := e.store.EndRun(t.Context(), "default", id, store.RunEnd{Status: run.status, Usage: []byte(run.usage), At: run.at.Add(time.Minute)}); err != nil {
				t.Fatal(err)
			}
		}
	}
	const path = "/workspaces/default/projects/default/usage"
	got := e.do("GET", path+"?from=2026-03-01&to=2026-03-02", e.reader, nil)
	describedBy(e).check(t, "GET", path, got)
	sum := func(runs, prompt, answer, calls, seconds float64) map[string]any {
		return map[string]any{
			"runs": runs, "questions": runs, "documents": 0.0, "prompt_tokens": prompt, "completion_tokens": answer, "model_calls": calls, "seconds": seconds,
			"embedding_calls": 0.0, "embedding_tokens": 0.0, "rerank_calls": 0.0, "rerank_tokens": 0.0,
		}
	}
	searched := func(s map[string]any) map[string]any {
		s["embedding_calls"], s["embedding_tokens"], s["rerank_calls"], s["rerank_tokens"] = 1.0, 9.0, 2.0, 30.0
		return s
	}
	of := func(day, model string, s map[string]any) any {
		s["day"], s["model"] = day, model
		return s
	}
	want := map[string]any{"from": "2026-03-01", "to": "2026-03-02", "total": searched(sum(4, 42, 6, 5, 4.5)), "days": []any{
		of("2026-03-01", "large", searched(sum(2, 30, 5, 3, 3.5))), of("2026-03-01", "small", sum(1, 5, 1, 1, 1)), of("2026-03-02", "", sum(1, 7, 0, 1, 0)),
	}}
	if diff := cmp.Diff(want, got.want(200)); diff != "" {
		t.Error(diff)
	}
	for _, query := range []string{"?from=yesterday", "?from=2026-03-02&to=2026-03-01", "?from=2024-01-01&to=2026-01-01"} {
		if got := e.do("GET", path+query, e.reader, nil); got.status != 422 {
			t.Errorf("%s: %d %s", query, got.status, got.body)
		}
	}
	e.do("GET", path, e.stranger, nil).want(404)
	e.do("GET", "/workspaces/default/projects/nope/usage", e.reader, nil).want(404)
	if empty := e.do("GET", path, e.reader, nil).want(200); len(empty["days"].([]any)) != 0 {
		t.Errorf("%v", empty)
	}
}

// TestUsageByOwner has runs of a person, of a customer and of a key, in two projects.
func TestUsageByOwner(t *testing.T) {
	t.Parallel()
	e := open(t)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	made := e.do("POST", own+"/keys", e.admin, `{"name":"robot","scopes":["read"]}`).want(201)["id"].(string)
	e.do("POST", hooks+"/projects", e.admin, `{"name":"Second","slug":"second"}`).want(200)
	for i, run := range []struct{ project, owner string }{{"default", "u:ann"}, {"default", "u:ann"}, {"second", "x:bob"}, {"second", "k:" + made}} {
		id := fmt.Sprintf("owned-%d", i)
		if err := e.store.AddRun(t.Context(), store.Run{ID: id, Workspace: "default", Project: run.project, Owner: run.owner, Kind: knowledge.KindQuery, WorkflowID: id, CreatedAt: at}); err != nil {
			t.Fatal(err)
		}
		if err := e.store.EndRun(t.Context(), "default", id, store.RunEnd{Status: knowledge.RunCompleted, Usage: []byte(`{"prompt_tokens":5,"completion_tokens":0,"model_calls":1,"model":"m"}`), At: at}); err != nil {
			t.Fatal(err)
		}
	}
	const path = own + "/usage"
	for by, want := range map[string]string{
		"":            "[default Default 2] [second Second 2]",
		"&by=project": "[default Default 2] [second Second 2]",
		"&by=user":    "[user:ann ann 2] [  1] [externalUser:bob bob 1]",
		"&by=key":     "[  3] [" + made + " robot 1]",
	} {
		got := e.do("GET", path+"?from=2026-03-01&to=2026-03-01"+by, e.admin, nil)
		describedBy(e).check(t, "GET", path, got)
		var found []string
		for _, one := range got.want(200)["data"].([]any) {
			one := one.(map[string]any)
			found = append(found, fmt.Sprint([]any{one["id"], one["name"], one["total"].(map[string]any)["questions"]}))
			if days := one["days"].([]any); len(days) != 1 || days[0].(map[string]any)["model"] != "m" {
				t.Errorf("%s: days %v", by, days)
			}
		}
		slices.Sort(found[1:])
		if joined := strings.Join(found, " "); joined != want {
			t.Errorf("%s: %s, want %s", by, joined, want)
		}
	}
	e.do("GET", path+"?by=colour", e.admin, nil).refused(422, knowledge.CodeInvalid)
	e.do("GET", path, e.editor, nil).refused(403, knowledge.CodeForbidden)
	e.do("GET", path, e.stranger, nil).want(404)
}

// TestCostOfUsage has runs with a cost, with one in another currency, and with none.
func TestCostOfUsage(t *testing.T) {
	t.Parallel()
	for currency, want := range map[string]any{"EUR": 0.75, "": nil} {
		e := open(t, func(c *api.Config, _ *api.Deps) { c.Currency = currency })
		at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		for i, usage := range []string{`"cost":0.5,"currency":"EUR"`, `"cost":7,"currency":"USD"`, `"rerank_calls":1`, `"cost":0.25,"currency":"EUR"`} {
			id := fmt.Sprintf("cost-%d", i)
			if err := e.store.AddRun(t.Context(), store.Run{ID: id, Workspace: "default", Project: "default", Kind: knowledge.KindQuery, WorkflowID: id, CreatedAt: at}); err != nil {
				t.Fatal(err)
			}
			if err := e.store.EndRun(t.Context(), "default", id, store.RunEnd{Status: knowledge.RunCompleted, Usage: []byte(`{"model_calls":1,"model":"m",` + usage + `}`), At: at}); err != nil {
				t.Fatal(err)
			}
		}
		for _, path := range []string{own + "/projects/default/usage", own + "/usage"} {
			got := e.do("GET", path+"?from=2026-03-01&to=2026-03-01", e.admin, nil)
			describedBy(e).check(t, "GET", path, got)
			all := got.want(200)
			if shown, _ := all["currency"].(string); shown != currency {
				t.Errorf("%s: the currency is %q, want %q", path, shown, currency)
			}
			if list, ok := all["data"].([]any); ok {
				all = list[0].(map[string]any)
			}
			days := all["days"].([]any)
			if total := all["total"].(map[string]any); total["cost"] != want || total["runs"] != 4.0 || len(days) != 1 || days[0].(map[string]any)["cost"] != want {
				t.Errorf("%s in %q: %s", path, currency, got.body)
			}
		}
	}
}
