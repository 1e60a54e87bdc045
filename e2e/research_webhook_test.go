package e2e_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// askedResearch has a program asked about each question of a project, which it makes if there
// is none, runs a research for each of the texts there, and returns the events of the last.
func (s *server) askedResearch(t *testing.T, a *asker, project string, texts ...string) (run string, list []event) {
	t.Helper()
	if status := s.call(t, "POST", webhooks+"/projects", map[string]any{"slug": project}, nil); status >= 300 && status != http.StatusConflict {
		t.Fatalf("the project: status %d", status)
	}
	change := map[string]any{"webhooks": []map[string]any{{"url": a.url + "/queries", "types": []string{"queries"}, "secret": hookSecret}}}
	if status := s.call(t, "PATCH", "/workspaces/default/projects/"+project, change, nil); status != http.StatusOK {
		t.Fatalf("subscribe: status %d", status)
	}
	for _, text := range texts {
		run = s.ask(t, webhooks+"/query", map[string]any{
			"text": text, "projectId": project, "sse": true, "deepResearch": true,
			"projectConfigOverride": map[string]any{"tools": map[string]any{"deep_research": map[string]any{"depth": 1}}},
		}).run
		list = s.follow(t, run, 0)
		called := 0
		for _, e := range list {
			var call struct{ ID, Status string }
			if e.Name != "webhookCall" {
				continue
			}
			if err := json.Unmarshal(e.Data, &call); err != nil || call.Status != "completed" {
				t.Errorf("the call of the webhook: %s", e.Data)
			}
			called++
		}
		if called != 1 {
			t.Errorf("%d events of the webhook for %q", called, text)
		}
	}
	return run, list
}

// researchGiven are the answers of a model to a research with one sub-question.
func researchGiven() []modeltest.Reply {
	call := func(name, arguments string) modeltest.Reply {
		return modeltest.Call(model.ToolCall{ID: "call_1", Name: name, Arguments: arguments})
	}
	return []modeltest.Reply{
		call("plan_research", `{"questions":[{"question":"Who is it?","queries":[]}]}`),
		call("take_notes", `{"notes":[{"text":"It is known.","sources":[1]}],"missing":""}`),
		call("outline_report", `{"title":"It is so","sections":[{"heading":"It is so","notes":[1]}]}`),
		modeltest.Text("It is so indeed. <source_1>"),
	}
}

// researchAsked checks that a research asks the webhook of its project, and what its
// answers change.
func (s *server) researchAsked(t *testing.T, m *modeltest.Server) {
	t.Helper()
	a := newAsker(t)
	before := m.Totals().Chats.Asked
	_, list := s.askedResearch(t, a, "asked", "a stream of words", "direct")
	tr := read(t, list)
	wantSame(t, "what the reader put together", tr.text, tr.answer.Text)
	if tr.answer.Text != "Directly." || len(tr.answer.Sources) != 1 || m.Totals().Chats.Asked != before {
		t.Errorf("the report is %q with %+v after %d model calls", tr.answer.Text, tr.answer.Sources, m.Totals().Chats.Asked-before)
	}
	m.ScriptChat(researchGiven()...)
	_, list = s.askedResearch(t, a, "asked", "chunks")
	tr = read(t, list)
	wantSame(t, "what the reader put together", tr.text, tr.answer.Text)
	wantResolved(t, tr.answer)
	if len(tr.answer.Sources) != 1 || !strings.Contains(tr.answer.Sources[0].Text, "Ondine") || updates(t, 1, "search", "started")(list) {
		t.Errorf("the report with %+v is\n%s", tr.answer.Sources, tr.answer.Text)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.asked) != 3 {
		t.Errorf("the webhook was asked %d times", len(a.asked))
	}
}
