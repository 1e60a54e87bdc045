package e2e_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// tellsOfPeople makes the project second, which makes tables and has a step that gives each document
// of a person a word of that person.
func (s *server) tellsOfPeople(t *testing.T, people ...*somebody) {
	t.Helper()
	told := map[string]string{}
	for _, p := range people {
		told["zq"+p.name] = p.word("answer of a step")
	}
	st := newStepper(t)
	check := st.at("/extracted", func(given map[string]any) (int, string) {
		for name, word := range told {
			if strings.Contains(fmt.Sprint(given["blocks"]), name) {
				return http.StatusOK, fmt.Sprintf(`{"metadata": {"checked": %q}}`, word)
			}
		}
		return http.StatusOK, `{}`
	})
	settings := map[string]any{
		"callbackSecret": hookSecret, "pipeline": []map[string]any{{"at": "extracted", "name": "check", "webhook": check}},
		"ai": map[string]any{"tables": true, "prompt": "Answer from the tables."},
	}
	if status := s.call(t, "POST", webhooks+"/projects", map[string]any{"slug": "second"}, nil); status >= 300 {
		t.Fatalf("project: status %d", status)
	}
	if status := s.call(t, "PATCH", "/workspaces/default/projects/second", settings, nil); status != http.StatusOK {
		t.Fatalf("settings: status %d", status)
	}
}

// leaveLate leaves words in a conversation that was held elsewhere, in a table and a query of it, and
// in a document for which a step of a pipeline answers.
func (p *somebody) leaveLate() {
	p.Helper()
	messages := []map[string]any{{"role": "user", "text": p.word("question from elsewhere")}, {"role": "assistant", "text": p.word("answer from elsewhere")}}
	p.send("POST", "/workspaces/default/conversations/import", map[string]any{
		"external_id": p.name, "project_id": "second", "title": p.word("title from elsewhere"), "messages": messages,
	}, nil)
	table, cell, column := p.word("name of a table"), p.word("cell of a table"), p.word("query of a table")
	for name, text := range map[string]string{
		table + ".csv": "Region,Amount\n" + cell + ",12\n",
		p.word("name of a checked file") + ".txt": "The checked sheet is about " + p.word("text of a checked file") + ".",
	} {
		mediaType, body := form(p.T, nil, file{name, []byte(text)})
		_, answer := p.s.raw(p.T, "POST", "/workspaces/default/projects/second/files", mediaType, body, p.header...)
		var taken struct{ Documents []client.Document }
		if decode(p.T, answer, &taken); len(taken.Documents) != 1 {
			p.Fatalf("%s: %.300s", name, answer)
		}
		if _, err := p.s.Wait(p.Context(), taken.Documents[0].RunID, nil); err != nil {
			p.Fatal(err)
		}
	}
	arguments := fmt.Sprintf(`{"document":%q,"sql":"SELECT region AS %s FROM %s"}`, table+".csv", column, table)
	p.m.ScriptChat(modeltest.Call(model.ToolCall{ID: "region", Name: "query_table", Arguments: arguments}), modeltest.Text("It is "+p.word("answer from a table")+" [1]."))
	var a tableAnswer
	p.send("POST", webhooks+"/query", map[string]any{"text": "Which region is in " + p.word("question for a table") + "?", "projectId": "second"}, &a)
	if len(a.ToolCalls) != 1 || a.ToolCalls[0].Status != "completed" {
		p.Fatalf("the table was asked %+v", a.ToolCalls)
	}
}
