package api_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// TestFieldsHaveOneSpelling sends fields whose names differ from ours in their
// case: beside the right one they would win unchecked.
func TestFieldsHaveOneSpelling(t *testing.T) {
	t.Parallel()
	e := open(t)
	document := own + "/documents/" + e.add(e.editor, "a.txt", "one")
	for name, test := range map[string]struct{ method, path, body, location string }{
		"alone":                  {"POST", hooks + "/retrieve-context", `{"text":"a","PROJECTID":"default"}`, "body.PROJECTID"},
		"beside_the_right_one":   {"POST", own + "/keys", `{"name":"x","scopes":["read"],"SCOPES":["root","bogus"]}`, "body.SCOPES"},
		"in_an_object":           {"PUT", "/preferences", `{"rag":{"model":"a","MODEL":"b"}}`, "body.rag.MODEL"},
		"in_an_object_of_one":    {"POST", hooks + "/projects", `{"name":"a","ai":{"retrieval":{"candidates":5,"Candidates":-1}}}`, "body.ai.retrieval.Candidates"},
		"in_a_list":              {"POST", hooks + "/retrieve-context", `{"text":"a","filters":[{"field":"name","type":"eq","value":"a","Type":"bogus"}]}`, "body.filters[0].Type"},
		"of_a_choice":            {"PATCH", document, `{"status":"inactive","STATUS":"banana"}`, "body.STATUS"},
		"of_a_document":          {"POST", hooks + "/document", `{"content":{"text":"a"},"NAME":"b"}`, "body.NAME"},
		"of_a_documents_content": {"POST", hooks + "/document", `{"content":{"text":"a","Text":"b"}}`, "body.content.Text"},
		"of_a_question":          {"POST", hooks + "/query", `{"text":"a","Sse":true}`, "body.Sse"},
		"of_an_override":         {"POST", hooks + "/query", `{"text":"a","projectConfigOverride":{"ai":{"TEMPERATURE":99},"tools":{},"limits":{}}}`, "body.projectConfigOverride.ai.TEMPERATURE"},
	} {
		t.Run(name, func(t *testing.T) {
			locations := e.do(test.method, test.path, e.admin, test.body).refused(422, knowledge.CodeInvalid)
			if diff := cmp.Diff([]string{test.location}, locations); diff != "" {
				t.Error(diff)
			}
		})
	}
	t.Run("in_metadata_they_are_the_callers", func(t *testing.T) {
		got := e.do("PATCH", document, e.editor, `{"metadata":{"key":1,"Key":2}}`).want(200)["metadata"]
		if diff := cmp.Diff(map[string]any{"key": 1.0, "Key": 2.0}, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestFieldsComeOnce(t *testing.T) {
	t.Parallel()
	e := open(t)
	for name, test := range map[string]struct{ path, body, pointer string }{
		"a_field":              {hooks + "/retrieve-context", `{"text":"a","text":"b"}`, "/text"},
		"written_in_two_ways":  {hooks + "/retrieve-context", `{"text":"a","te\u0078t":"b"}`, "/text"},
		"in_an_object":         {own + "/keys", `{"name":"x","scopes":["read"],"a":{"b":[{"c":1,"c":2}]}}`, "/a/b/0/c"},
		"of_a_document":        {hooks + "/document", `{"content":{"text":"a","text":"b"}}`, "/content/text"},
		"in_metadata":          {hooks + "/document", `{"content":{"text":"a"},"metadata":{"k":1,"k":2}}`, "/metadata/k"},
		"with_half_characters": {hooks + "/retrieve-context", `{"text":"\ud800","text":"b"}`, "/text"},
	} {
		t.Run(name, func(t *testing.T) {
			got := e.do("POST", test.path, e.admin, test.body)
			got.refused(400, knowledge.CodeMalformed)
			if !strings.Contains(string(got.body), "the field "+test.pointer+" twice") {
				t.Errorf("%s", got.body)
			}
		})
	}
	e.do("POST", hooks+"/retrieve-context", e.reader, `{"text":"text","filters":[{"field":"name","type":"eq","value":"a"},{"field":"name","type":"eq","value":"a"}]}`).want(200)
	e.do("POST", hooks+"/retrieve-context", e.reader, `{"text":"half a character: \ud800"}`).want(200)
}
