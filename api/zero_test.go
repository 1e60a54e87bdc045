package api_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
)

// zeros are the settings of a project for which zero is a value like any other, and whether it is
// another one than the default, which is not shown.
var zeros = map[string]bool{"ai.history.messages": true, "ai.textSplitter.chunkOverlap": true, "ai.retrieval.neighbours": false, "ai.retrieval.phrasings": false}

// integerSettings returns the paths of all settings that are integers.
func integerSettings(t reflect.Type) []string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Int, reflect.Int64:
		return []string{""}
	case reflect.Struct:
	default:
		return nil
	}
	var paths []string
	for _, field := range reflect.VisibleFields(t) {
		name, _, tagged := strings.Cut(field.Tag.Get("json"), ",")
		if !tagged && field.Anonymous || name == "-" {
			continue
		}
		for _, rest := range integerSettings(field.Type) {
			paths = append(paths, strings.TrimSuffix(name+"."+rest, "."))
		}
	}
	return paths
}

// at returns the JSON of an object with a value at a path.
func at(path, value string) string {
	for _, name := range slices.Backward(strings.Split(path, ".")) {
		value = `{"` + name + `":` + value + `}`
	}
	return value
}

// TestZeroOfASetting sets every integer of a project to zero, in the project and for one
// question: it is zero then, or is refused, and never the default.
func TestZeroOfASetting(t *testing.T) {
	t.Parallel()
	e, _ := openAnswering(t, record.Answer{Answer: "Yes."})
	settings := integerSettings(reflect.TypeFor[knowledge.ProjectConfig]())
	if len(settings) < 20 {
		t.Fatalf("found only %v", settings)
	}
	for _, path := range settings {
		t.Run(path, func(t *testing.T) {
			zero := at(path, "0")
			saved := e.do("PATCH", own+"/projects/default", e.admin, zero)
			asked := e.do("POST", hooks+"/query", e.editor, `{"text":"a","projectId":"default","projectConfigOverride":`+zero+`}`)
			if shown, ok := zeros[path]; ok {
				asked.want(200)
				if name := path[strings.LastIndex(path, ".")+1:]; saved.status != 200 || shown && !strings.Contains(string(saved.body), `"`+name+`":0`) {
					t.Errorf("saved %s", saved.body)
				}
				return
			}
			for prefix, got := range map[string]answer{"body.": saved, "body.projectConfigOverride.": asked} {
				if diff := cmp.Diff([]string{prefix + path}, got.refused(422, knowledge.CodeInvalid)); diff != "" {
					t.Error(diff)
				}
				if !strings.Contains(string(got.body), "leave it out for the default") {
					t.Errorf("says %s", got.body)
				}
			}
		})
	}
}

// TestZeroOfARequest sends zero where a request bounds something.
func TestZeroOfARequest(t *testing.T) {
	t.Parallel()
	e := open(t)
	imported := func(option string) string {
		return `{"project_id":"default","source":{"type":"crawl","uri":"https://example.com/","options":{"` + option + `":0}}}`
	}
	for name, test := range map[string]struct{ method, path, key, body, location string }{
		"numberOfChunks": {"POST", hooks + "/retrieve-context", e.reader, `{"text":"a","numberOfChunks":0}`, "body.numberOfChunks"},
		"max_pages":      {"POST", own + "/imports", e.editor, imported("max_pages"), "body.source.options.max_pages"},
		"max_depth":      {"POST", own + "/imports", e.editor, imported("max_depth"), "body.source.options.max_depth"},
		"delay_ms":       {"POST", own + "/imports", e.editor, imported("delay_ms"), "body.source.options.delay_ms"},
		"of_a_key":       {"POST", own + "/keys", e.admin, `{"name":"a","scopes":["read"],"queries_per_minute":0}`, "body.queries_per_minute"},
		"limit":          {"GET", own + "/runs?limit=0", e.reader, "", "query.limit"},
		"of_documents":   {"GET", hooks + "/documents?projectId=default&limit=0", e.reader, "", "query.limit"},
		"dpi":            {"GET", own + "/documents/x/pages/1.png?dpi=0", e.reader, "", "query.dpi"},
	} {
		t.Run(name, func(t *testing.T) {
			got := e.do(test.method, test.path, test.key, test.body)
			if diff := cmp.Diff([]string{test.location}, got.refused(422, knowledge.CodeInvalid)); diff != "" {
				t.Errorf("%s%s", diff, got.body)
			}
		})
	}
}

// TestSettingsOfAllQuestions changes for one question what holds for all of a project.
func TestSettingsOfAllQuestions(t *testing.T) {
	t.Parallel()
	e, _ := openAnswering(t, record.Answer{Answer: "Yes."})
	e.do("PATCH", own+"/projects/default", e.admin, `{"limits":{"documents":50},"ai":{"embeddings":{"model":"m","dimensions":8}}}`).want(200)
	for name, test := range map[string]struct{ override, refused string }{
		"a_limit":                       {`{"limits":{"documents":51}}`, "body.projectConfigOverride.limits"},
		"no_limit":                      {`{"limits":null}`, "body.projectConfigOverride.limits"},
		"another_limit":                 {`{"limits":{"queriesPerMinute":1000}}`, "body.projectConfigOverride.limits"},
		"the_limits_that_there_are":     {`{"limits":{"documents":50}}`, ""},
		"an_embedding_model":            {`{"ai":{"embeddings":{"model":"n"}}}`, "body.projectConfigOverride.ai.embeddings"},
		"dimensions":                    {`{"ai":{"embeddings":{"dimensions":16}}}`, "body.projectConfigOverride.ai.embeddings"},
		"the_embeddings_that_there_are": {`{"ai":{"embeddings":{"model":"m","dimensions":8}}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := e.do("POST", hooks+"/query", e.editor, map[string]any{"text": "a", "projectId": "default", "projectConfigOverride": json.RawMessage(test.override)})
			if test.refused == "" {
				got.want(200)
				return
			}
			if diff := cmp.Diff([]string{test.refused}, got.refused(422, knowledge.CodeInvalid)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
