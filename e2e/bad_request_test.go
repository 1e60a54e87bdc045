package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// jsonRoutes are routes that take JSON, each with the name of a text field and the
// other fields that its body needs.
var jsonRoutes = []struct {
	method, path, field string
	more                map[string]any
}{
	{"POST", webhooks + "/query", "text", nil},
	{"POST", webhooks + "/retrieve-context", "text", nil},
	{"POST", "/tools/rag_search", "query", nil},
	{"POST", webhooks + "/document?projectId=default", "name", map[string]any{"content": map[string]any{"text": "A text."}}},
	{"POST", webhooks + "/projects", "name", nil},
	{"POST", "/workspaces/default/keys", "name", map[string]any{"scopes": []string{"read"}}},
	{"POST", "/workspaces", "id", nil},
	{"POST", "/workspaces/default/conversations", "title", nil},
	{"PUT", "/preferences", "userId", map[string]any{"rag": map[string]any{}}},
}

func badRequests(t *testing.T, s *server) {
	nested := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	for _, r := range jsonRoutes {
		t.Run(r.method+" "+r.path, func(t *testing.T) {
			body := func(field string, value any) map[string]any {
				b := map[string]any{r.field: "something"}
				for name, v := range r.more {
					b[name] = v
				}
				b[field] = value
				return b
			}
			for _, malformed := range []string{
				"", "{", `{"` + r.field + `": "a`, "not JSON", `{"a":1}{"b":2}`, "\x00", "{\"" + r.field + "\": \"\xff\xfe\"}", nested,
				`{"` + r.field + `":` + nested + `}`,
			} {
				s.refuses(t, r.method, r.path, malformed, http.StatusBadRequest, knowledge.CodeMalformed)
			}
			p := s.refuses(t, r.method, r.path, body("noSuchField", 1), http.StatusUnprocessableEntity, knowledge.CodeInvalid)
			if len(p.Errors) == 0 || !strings.Contains(p.Errors[0].Location, "noSuchField") {
				t.Errorf("an unknown field is not named: %+v", p.Errors)
			}
			for _, wrong := range []any{5, true, []string{"a"}, map[string]any{"a": 1}} {
				p := s.refuses(t, r.method, r.path, body(r.field, wrong), http.StatusUnprocessableEntity, knowledge.CodeInvalid)
				if len(p.Errors) == 0 || !strings.Contains(p.Errors[0].Location, r.field) {
					t.Errorf("a value of the wrong type is not named: %+v", p.Errors)
				}
			}
			for _, whole := range []string{`[]`, `"text"`, `12`, `null`, `true`} {
				s.refuses(t, r.method, r.path, whole, http.StatusUnprocessableEntity, knowledge.CodeInvalid)
			}
		})
	}

	t.Run("with a number beyond all limits", func(t *testing.T) {
		for _, number := range []string{"-1", "101", "99999999999999999999", "1.5"} {
			s.refuses(t, "POST", webhooks+"/retrieve-context", `{"text":"a","numberOfChunks":`+number+`}`, http.StatusUnprocessableEntity, knowledge.CodeInvalid)
			p := s.refuses(t, "POST", webhooks+"/query", `{"text":"a","projectConfigOverride":{"ai":{"retrieval":{"numberOfChunks":`+number+`}}}}`,
				http.StatusUnprocessableEntity, knowledge.CodeInvalid)
			if len(p.Errors) != 1 || p.Errors[0].Location != "body.projectConfigOverride.ai.retrieval.numberOfChunks" {
				t.Errorf("%s passages of an override: the errors are %+v", number, p.Errors)
			}
		}
		s.refuses(t, "POST", webhooks+"/retrieve-context", `{"text":"a","numberOfChunks":1e400}`, http.StatusBadRequest, knowledge.CodeMalformed) // no float64 holds it
		for _, path := range []string{
			"/workspaces/default/runs?limit=99999999999999999999", "/workspaces/default/runs?limit=-1", "/workspaces/default/runs?limit=501", "/workspaces/default/runs?limit=abc",
			webhooks + "/documents?projectId=default&page=-1", webhooks + "/documents?projectId=default&limit=1e9", "/workspaces/default/runs?cursor=%27%20or%201",
		} {
			s.refuses(t, "GET", path, nil, http.StatusUnprocessableEntity, knowledge.CodeInvalid)
		}
		s.refuses(t, "POST", webhooks+"/document?projectId=default",
			`{"name":"a","content":{"text":"a"},"override":{"textSplitter":{"chunkSize":99999999}}}`, http.StatusUnprocessableEntity, knowledge.CodeInvalid)
	})

	t.Run("with too much in it", func(t *testing.T) {
		for _, r := range jsonRoutes[:3] {
			s.refuses(t, r.method, r.path, map[string]any{r.field: strings.Repeat("word ", 200_000)}, http.StatusUnprocessableEntity, knowledge.CodeInvalid) // 1 MB
			s.refuses(t, r.method, r.path, `{"`+r.field+`":"`+strings.Repeat("a", 50<<20)+`"}`, http.StatusRequestEntityTooLarge, knowledge.CodeTooLarge)
		}
	})

	t.Run("for what does not exist", func(t *testing.T) {
		for _, path := range []string{
			"/workspaces/default/documents/", "/runs/", "/chunks/", "/workspaces/default/conversations/", "/workspaces/default/projects/",
		} {
			for _, id := range []string{"nobody", "%27%20OR%201%3D1--", "..%2f..%2fadmin.key", "00000000-0000-4000-8000-000000000000", "%00"} {
				s.refuses(t, "GET", path+id, nil, http.StatusNotFound, knowledge.CodeNotFound)
			}
		}
		s.refuses(t, "GET", "/no/such/route", nil, http.StatusNotFound, knowledge.CodeNotFound)
	})

	t.Run("that is no JSON by its type", func(t *testing.T) {
		res, answer := s.raw(t, "POST", webhooks+"/query", "text/plain", []byte(`{"text":"a"}`))
		wantProblem(t, res, answer, http.StatusUnsupportedMediaType, knowledge.CodeUnsupportedFormat)
	})
}
