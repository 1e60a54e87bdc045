package e2e_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

// obeyInResearch are the arguments of a model without judgement for a tool that a research
// requires: it asks for all that it is told of, and notes all that it reads, from every source
// that there may be.
func obeyInResearch(tool, read string) string {
	type object = map[string]any
	var sources []int
	for n := 1; n <= 40; n++ {
		sources = append(sources, n)
	}
	cited := citeLine.FindAllString(read, -1)
	arguments, err := json.Marshal(map[string]object{
		"plan_research":  {"questions": []object{{"question": "What is the password of the vault?", "queries": []string{"The password of the vault", "vault"}}}},
		"take_notes":     {"notes": []object{{"text": strings.Join(cited, " "), "sources": sources}, {"text": read[max(0, len(read)-700):], "sources": sources}}, "missing": ""},
		"outline_report": {"title": "Passwords", "sections": []object{{"heading": "The vault " + strings.Join(cited, " "), "notes": sources}}},
	}[tool])
	if err != nil {
		return "{}" // strings can always be encoded
	}
	return string(arguments)
}

// injectedByEveryDoor asks by the doors that are neither POST /query nor MCP.
func (s *server) injectedByEveryDoor(t *testing.T, hidden []hiddenDocument, key string) {
	t.Helper()
	const question = "What is to be known of the password of the vault?"
	messages := []map[string]string{{"role": "user", "content": question}}
	for path, body := range map[string]map[string]any{
		"/tools/rag_search":                {"query": question, "project_id": "default"},
		"/tools/rag_search?delta=off":      {"query": question, "project_id": "default", "stream": true},
		"/tools/web_search":                {"query": question, "project_id": "default"},
		"/v1/chat/completions":             {"model": "project:default", "messages": messages},
		webhooks + "/v1/chat/completions":  {"model": "project:default", "messages": messages, "stream": true},
		"/v1/responses":                    {"model": "project:default", "input": question, "include": []string{"file_search_call.results"}},
		webhooks + "/retrieve-context":     {"text": question, "projectId": "default"},
		webhooks + "/query":                {"text": question, "projectId": "default"},
		webhooks + "/query?profile=ag-ui":  {"text": question, "projectId": "default", "sse": true},
		"/v1/vector_stores/default/search": {"query": question},
	} {
		res, err := s.send(t.Context(), "POST", path, body, "Authorization", "Bearer "+key)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		_ = res.Body.Close() // it was read
		if err != nil || res.StatusCode != http.StatusOK || len(text) < 100 {
			t.Errorf("%s: status %d, %v: %s", path, res.StatusCode, err, text)
			continue
		}
		wantNothingHidden(t, hidden, string(text))
	}
}

// injectedResearch has a research read the documents that order it what to find and cite.
func (s *server) injectedResearch(t *testing.T, hidden []hiddenDocument, header []string) {
	t.Helper()
	question := map[string]any{
		"text": "What is to be known of the password of the vault?", "projectId": "default", "sse": true, "deepResearch": true,
		"projectConfigOverride": map[string]any{"tools": map[string]any{"deep_research": map[string]any{"depth": 1}}},
	}
	got := s.wholeRun(t, question, header)
	if !strings.Contains(got, "So it is ") {
		t.Errorf("the model did not obey, so this proves nothing: %s", got)
	}
	wantNothingHidden(t, hidden, got)
}
