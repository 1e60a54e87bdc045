package api_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
)

// TestQueryWithEmptyFields: what clients of the seed routes send as nothing does not matter.
func TestQueryWithEmptyFields(t *testing.T) {
	t.Parallel()
	e := open(t)
	none := map[string]any{"text": "", "projectId": "default", "stream": true, "sse": true, "callback": map[string]any{}, "attachments": []any{}, "deepResearch": false}
	if diff := cmp.Diff([]string{"body.text"}, e.do("POST", hooks+"/query", e.reader, none).refused(422, knowledge.CodeInvalid)); diff != "" {
		t.Error(diff)
	}
}

// asked sends a question that is taken, and gives the snapshot that its run
// starts with.
func (e *edge) asked(path, key string, body map[string]any) knowledge.Request {
	e.t.Helper()
	if got := e.do("POST", path, key, body); got.status != http.StatusOK {
		e.t.Fatalf("status %d: %s\n%s", got.status, got.body, e.log)
	}
	return e.lastAsked()
}

// lastAsked returns the snapshot that the last run starts with.
func (e *edge) lastAsked() knowledge.Request {
	e.t.Helper()
	e.work.mu.Lock()
	in := e.work.answers[len(e.work.answers)-1]
	e.work.mu.Unlock()
	var request knowledge.Request
	if err := e.blobs.GetJSON(e.t.Context(), in.RequestKey(), &request); err != nil {
		e.t.Fatal(err)
	}
	return request
}

func TestQueryOverridesTheProject(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.do("PATCH", own+"/projects/default", e.admin, `{"ai":{"prompt":"Be brief.","retrieval":{"numberOfChunks":7,"minScore":0.2}},"tools":{"maxPerRequest":2}}`).want(200)
	config := func(override any) knowledge.ProjectConfig {
		return e.asked(hooks+"/query", e.reader, map[string]any{
			"text": "How many days of leave are there?", "projectId": "default", "sse": true, "projectConfigOverride": override,
		}).Config
	}
	usual := config(nil)
	for name, test := range map[string]struct {
		override any
		want     func(*knowledge.ProjectConfig)
	}{
		"with_nothing": {map[string]any{}, func(*knowledge.ProjectConfig) {}},
		"in_a_field_deep_inside": {
			map[string]any{"ai": map[string]any{"retrieval": map[string]any{"strategy": "dense"}}},
			func(c *knowledge.ProjectConfig) { c.AI.Retrieval.Strategy = "dense" },
		},
		"in_one_weight": {
			map[string]any{"ai": map[string]any{"retrieval": map[string]any{"weights": map[string]any{"dense": 1}}}},
			func(c *knowledge.ProjectConfig) { c.AI.Retrieval.Weights = &knowledge.Weights{Dense: 1, BM25: 0.6} },
		},
		"to_zero_and_to_the_default": {
			map[string]any{"ai": map[string]any{"prompt": "", "retrieval": map[string]any{"minScore": 0, "numberOfChunks": nil}}},
			func(c *knowledge.ProjectConfig) {
				c.AI.Prompt, c.AI.Retrieval.MinScore, c.AI.Retrieval.NumberOfChunks = "", 0, 10
			},
		},
		"in_the_tools": {
			map[string]any{"tools": map[string]any{"maxPerRequest": 9}},
			func(c *knowledge.ProjectConfig) { c.Tools.MaxPerRequest = 9 },
		},
	} {
		want := usual
		test.want(&want)
		if diff := cmp.Diff(want, config(test.override)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	body := `{"text":"a","projectId":"default","projectConfigOverride":{"ai":{"textSplitter":{"chunkSize":99}}}}`
	if got := e.do("POST", hooks+"/query", e.reader, body).refused(422, knowledge.CodeInvalid); got[0] != "body.projectConfigOverride.ai.textSplitter.chunkSize" {
		t.Errorf("locations %v", got)
	}
	// JSON knows whole numbers that no int is read from.
	body = `{"text":"a","projectId":"default","projectConfigOverride":{"tools":{"maxPerRequest":1e1}}}`
	e.do("POST", hooks+"/query", e.reader, body).refused(422, knowledge.CodeInvalid)
}

func TestQueryAsksForThePreferredModel(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.do("PATCH", own+"/projects/default", e.admin, `{"ai":{"model":"the project's"}}`).want(200)
	e.do("PUT", "/preferences?external_user_id=ann", e.reader, `{"rag":{"model":"ann's"}}`).want(200)
	e.do("PUT", "/preferences?external_user_id=bob", e.reader, `{"rag":{"model":null}}`).want(200)
	override := map[string]any{"ai": map[string]any{"model": "the question's"}}
	for name, test := range map[string]struct {
		path string
		body map[string]any
		want string
	}{
		"of_the_user":             {hooks + "/query", map[string]any{"text": "a", "projectId": "default", "sse": true, "external_user_id": "ann"}, "ann's"},
		"of_the_user_in_a_tool":   {"/tools/rag_search", map[string]any{"query": "a", "project_id": "default", "stream": true, "external_user_id": "ann"}, "ann's"},
		"but_not_over_a_question": {hooks + "/query", map[string]any{"text": "a", "projectId": "default", "sse": true, "external_user_id": "ann", "projectConfigOverride": override}, "the question's"},
		"of_none":                 {hooks + "/query", map[string]any{"text": "a", "projectId": "default", "sse": true, "external_user_id": "bob"}, "the project's"},
		"of_somebody_else":        {hooks + "/query", map[string]any{"text": "a", "projectId": "default", "sse": true}, "the project's"},
	} {
		if got := e.asked(test.path, e.reader, test.body).Config.AI.Model; got != test.want {
			t.Errorf("%s: %s is asked for, want %s", name, got, test.want)
		}
	}
}

func TestConversationOfAQuestion(t *testing.T) {
	t.Parallel()
	e, a := openAnswering(t, record.Answer{Answer: "Yes."})
	first := e.do("POST", hooks+"/query", e.reader, `{"text":"a"}`).want(200)["conversationId"].(string)
	for _, more := range []string{`"conversationId":"C"`, `"session_id":"C"`, `"session_id":"C","conversationId":"C"`} {
		body := strings.ReplaceAll(`{"text":"b",`+more+`}`, "C", first)
		if got := e.do("POST", hooks+"/query", e.reader, body).want(200); got["conversationId"] != first || a.last().ConversationID != first {
			t.Errorf("%s went on with %v", more, got["conversationId"])
		}
	}
	for _, wrong := range []string{`"session_id":"C","conversationId":"D"`, `"session_id":"D","conversationId":"C"`} {
		body := strings.ReplaceAll(`{"text":"b",`+wrong+`}`, "C", first)
		if diff := cmp.Diff([]string{"body.session_id"}, e.do("POST", hooks+"/query", e.reader, body).refused(422, knowledge.CodeInvalid)); diff != "" {
			t.Errorf("%s: %s", wrong, diff)
		}
	}
	e.do("POST", hooks+"/query", e.reader, `{"text":"b","session_id":"`+knowledge.NewID()+`"}`).refused(404, knowledge.CodeNotFound)
}

func TestTagsOfAQuestion(t *testing.T) {
	t.Parallel()
	e, a := openAnswering(t, record.Answer{Answer: "Yes."})
	filters := make([]map[string]any, knowledge.MaxFilterConditions)
	for i := range filters {
		filters[i] = map[string]any{"field": "name", "type": "ne", "value": fmt.Sprint(i)}
	}
	ask := func(tags any) answer {
		return e.do("POST", hooks+"/query", e.reader, map[string]any{"text": "a", "filters": filters, "tags": tags})
	}
	for location, tags := range map[string][]string{
		"body.tags[0]": {strings.Repeat("x", 129)}, "body.tags[1]": {"a", "a\x00b"}, "body.tags[2]": {"a", "b", " "},
	} {
		if diff := cmp.Diff([]string{location}, ask(tags).refused(422, knowledge.CodeInvalid)); diff != "" {
			t.Error(diff)
		}
	}
	if len(a.inputs) > 0 {
		t.Errorf("%d runs were started", len(a.inputs))
	}
	ask([]string{"a", "b"}).want(200)
	var request knowledge.Request
	if err := e.blobs.GetJSON(t.Context(), a.last().RequestKey(), &request); err != nil {
		t.Fatal(err)
	}
	if n := len(request.Filter); n != len(filters)+1 {
		t.Errorf("%d conditions", n)
	}
}
