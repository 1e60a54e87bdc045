package api_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
)

// TestQueryParameters sends parameters that a route does not have, or with
// values that they cannot have.
func TestQueryParameters(t *testing.T) {
	t.Parallel()
	e, _ := openAnswering(t, record.Answer{Answer: "Yes."})
	document, one := hooks+"/document", `{"content":{"text":"one"}}`
	run := e.do("POST", hooks+"/query", e.editor, `{"text":"a"}`).want(200)["runId"].(string)
	for name, test := range map[string]struct{ method, path, body, location, says string }{
		"another_spelling":      {"POST", document + "?project_id=nope", one, "query.project_id", "it is written projectId"},
		"another_case":          {"GET", own + "/runs?Project_ID=default", "", "query.Project_ID", "it is written project_id"},
		"unknown":               {"GET", own + "/runs?colour=red", "", "query.colour", "which has conversation_id, cursor, document_id, externalUserId, external_user_id, kind, limit"},
		"unknown_without_value": {"GET", "/chunks/x?colour", "", "query.colour", "which has externalUserId, external_user_id, quote"},
		"of_a_question":         {"POST", hooks + "/query?projectId=default", `{"text":"a"}`, "query.projectId", "which has compact, delta"},
		"that_the_body_takes":   {"POST", hooks + "/query?userId=ann", `{"text":"a"}`, "query.userId", "which has compact, delta"},
		"of_a_tool":             {"POST", "/tools/rag_search?stream=true", `{"query":"a"}`, "query.stream", "which has delta"},
		"of_files":              {"POST", own + "/projects/default/files?tags=a", "", "query.tags", "not a parameter"},
		"of_a_removal":          {"DELETE", document + "?documentId=x&id=y", "", "query.documentId", "not a parameter"},
		"of_events":             {"GET", "/runs/" + run + "/events?since=1", "", "query.since", "not a parameter"},
		"no_boolean":            {"POST", document + "?wait=banana", one, "query.wait", "must be true or false"},
		"no_boolean_of_events":  {"GET", "/runs/" + run + "/events?compact=yes", "", "query.compact", "must be true or false"},
		"no_choice":             {"GET", "/runs/" + run + "/events?delta=no", "", "query.delta", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := e.do(test.method, test.path, e.editor, test.body)
			if diff := cmp.Diff([]string{test.location}, got.refused(422, knowledge.CodeInvalid)); diff != "" {
				t.Error(diff)
			}
			if !strings.Contains(string(got.body), test.says) {
				t.Errorf("%s", got.body)
			}
		})
	}
	t.Run("that_cannot_be_read", func(t *testing.T) {
		e.do("GET", own+"/runs?limit=%zz", e.editor, nil).refused(400, knowledge.CodeMalformed)
	})
	t.Run("after_the_credentials", func(t *testing.T) {
		e.do("GET", own+"/runs?colour=red", "", nil).refused(401, knowledge.CodeUnauthorized)
	})
	t.Run("that_are_known", func(t *testing.T) {
		for _, path := range []string{
			own + "/documents?project_id=default&tags=a&tags=b&status=pending&external_id=x&limit=5", own + "/runs?userId=ann&limit=5",
			hooks + "/documents?projectId=default&page=0&limit=500&status=published&tags=a&externalId=x&session_id=",
			own + "/projects?limit=5&external_user_id=ann", "/preferences?external_user_id=ann", "/healthz?from=a-probe", "/docs?from=a-page",
			"/runs/" + run + "/events?after=0&compact=true&delta=off", "/runs/" + run + "/events?after=1&compact=1&delta=on", "/runs/" + run + "/events?after=",
		} {
			if got := e.do("GET", path, e.editor, nil); got.status != 200 {
				t.Errorf("%s: %d %s", path, got.status, got.body)
			}
		}
		e.do("POST", document+"?projectId=default&wait=false", e.editor, one).want(202)
		e.do("POST", document+"?wait=", e.editor, one).want(202)
	})
}
