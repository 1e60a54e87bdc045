package api_test

import (
	"encoding/json"
	"fmt"
	"math"
	"mime"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/store"
)

// TestAnswersAreAsDescribed holds answers of the routes against openapi.json.
func TestAnswersAreAsDescribed(t *testing.T) {
	t.Parallel()
	a := &answering{}
	e := a.open(t)
	id := e.add(e.editor, "a.md", "# One", map[string]any{"tags": []string{"t"}, "metadata": map[string]any{"k": 1}})
	e.publish(id, twoPages())
	chunk := knowledge.ChunkID(id, 1, 0)
	a.record = record.Answer{
		Answer: "Yes.", Sources: []record.Source{{Rank: 1, ChunkID: chunk, DocumentID: id, Score: 0.5}, {Rank: 2, ChunkID: "gone", DocumentID: id}}, Used: []int{1},
		ToolCalls: []record.CalledTool{{ID: "c", Name: "rag_search", Arguments: `{"query":"a"}`, Status: "completed"}},
	}
	e.work.contexts = []retrieve.Context{{ChunkView: store.ChunkView{Chunk: twoPages()}}}
	files := e.upload(e.editor, []part{file("a.zip", "PK\x03\x04zip"), file("b.txt", "two")})
	refused := files.want(202)["documents"].([]any)[0].(map[string]any)
	asked := e.do("POST", hooks+"/query", e.admin, `{"text":"a"}`).want(200)
	description := describedBy(e)
	description.check(t, "POST", own+"/projects/default/files", files)
	document, failed := own+"/documents/"+id, own+"/documents/"+refused["id"].(string)
	for _, request := range []struct{ method, path, body string }{
		{"GET", document, ""}, {"GET", document + "/chunks", ""}, {"GET", document + "/versions", ""}, {"GET", document + "/content", ""},
		{"GET", failed, ""}, {"GET", failed + "/versions", ""}, {"GET", failed + "/content", ""},
		{"GET", own + "/documents", ""}, {"GET", hooks + "/documents", ""}, {"PATCH", document, `{"tags":["u"],"access":{"users":["ann"],"workspace":true}}`},
		{"GET", "/chunks/" + chunk, ""}, {"GET", "/chunks/" + chunk + "?quote=early", ""}, {"GET", "/chunks/" + chunk + "?quote=never", ""},
		{"POST", hooks + "/document", `{"content":{"text":"two"}}`}, {"POST", document + "/reingest", ""}, {"POST", document + "/retry", ""},
		{"POST", hooks + "/query", `{"text":"a"}`}, {"POST", hooks + "/query", `{"text":"a","sse":true}`}, {"POST", hooks + "/query", `{"text":"a","stream":true}`}, {"POST", hooks + "/retrieve-context", `{"text":"a"}`},
		{"POST", "/tools/rag_search", `{"query":"a"}`}, {"POST", "/tools/rag_search", `{"query":"a","stream":true}`},
		{"POST", "/tools/rag_search?profile=ag-ui", `{"query":"a"}`}, {"POST", hooks + "/query?profile=ag-ui", `{"text":"a"}`}, {"GET", "/runs/" + asked["runId"].(string) + "/events?profile=ag-ui", ""},
		{"GET", own + "/runs", ""}, {"GET", "/runs/" + asked["runId"].(string), ""}, {"GET", "/runs/" + refused["runId"].(string), ""}, {"GET", own + "/runs/nope", ""},
		{"GET", "/runs/" + asked["runId"].(string) + "/events", ""}, {"GET", "/runs/" + asked["runId"].(string) + "/events?after=9", ""},
		{"GET", own + "/conversations", ""}, {"GET", own + "/conversations/" + asked["conversationId"].(string), ""}, {"POST", own + "/conversations", `{"title":"a"}`},
		{"POST", hooks + "/projects", `{"name":"House"}`}, {"GET", own + "/projects", ""}, {"GET", own + "/projects/default", ""}, {"PATCH", own + "/projects/default", `{"name":"D"}`},
		{"POST", own + "/keys", `{"name":"k","scopes":["read"]}`}, {"GET", own + "/keys", ""}, {"DELETE", own + "/keys/nope", ""},
		{"POST", "/workspaces", `{"id":"third"}`}, {"GET", "/workspaces", ""}, {"GET", "/preferences", ""}, {"PUT", "/preferences", `{"rag":{"model":"m"}}`},
		{"PATCH", own + "/projects/default", `{"limits":{"documents":9223372036854775807,"bytes":9223372036854775807}}`}, {"GET", own + "/usage?by=project", ""}, {"GET", own + "/limits", ""},
		{"GET", "/readyz", ""}, {"GET", "/metrics", ""}, {"DELETE", document, ""}, {"DELETE", own + "/conversations/" + asked["conversationId"].(string), ""},
	} {
		description.check(t, request.method, request.path, e.do(request.method, request.path, e.admin, request.body))
	}
}

// description is openapi.json.
type description struct {
	paths   map[string]any
	schemas map[string]any
}

func describedBy(e *edge) description {
	e.t.Helper()
	d := e.do("GET", "/openapi.json", "", nil).want(200)
	return description{d["paths"].(map[string]any), d["components"].(map[string]any)["schemas"].(map[string]any)}
}

// check fails the test unless the answer is one that the route is described with.
func (d description) check(t *testing.T, method, path string, got answer) {
	t.Helper()
	where := fmt.Sprintf("%s %s: %d", method, path, got.status)
	response, ok := d.operation(method, path)[strconv.Itoa(got.status)].(map[string]any)
	if !ok && got.status >= 400 {
		response, ok = d.operation(method, path)["default"].(map[string]any)
	}
	if !ok {
		t.Errorf("%s is not described: %s", where, got.body)
		return
	}
	if len(got.body) == 0 {
		return
	}
	kind, _, err := mime.ParseMediaType(got.header.Get("Content-Type"))
	if err != nil {
		t.Errorf("%s: %v", where, err)
	}
	media, ok := response["content"].(map[string]any)[kind].(map[string]any)
	if !ok {
		t.Errorf("%s is not described as %s", where, kind)
		return
	}
	if kind == "text/event-stream" {
		d.checkEvents(t, where, media["schema"].(map[string]any)["oneOf"].([]any), got)
		return
	}
	if !strings.HasSuffix(kind, "json") {
		return
	}
	var body any
	if err := json.Unmarshal(got.body, &body); err != nil {
		t.Errorf("%s: %v", where, err)
	}
	for _, wrong := range d.wrong(media["schema"].(map[string]any), body, "body") {
		t.Errorf("%s: %s", where, wrong)
	}
}

// checkEvents fails the test unless each event of a stream is described, and its
// data is as described.
func (d description) checkEvents(t *testing.T, where string, events []any, got answer) {
	t.Helper()
	described := map[string]any{}
	for _, event := range events {
		p := event.(map[string]any)["properties"].(map[string]any)
		described[p["event"].(map[string]any)["enum"].([]any)[0].(string)] = p["data"].(map[string]any)["contentSchema"]
	}
	name := "message" // of an event without one
	for line := range strings.Lines(string(got.body)) {
		if line == "\n" {
			name = "message"
		}
		if event, ok := strings.CutPrefix(line, "event: "); ok {
			name = strings.TrimSpace(event)
		}
		encoded, ok := strings.CutPrefix(line, "data: ")
		if !ok {
			continue
		}
		var data any
		if err := json.Unmarshal([]byte(encoded), &data); err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		schema, ok := described[name].(map[string]any)
		if !ok {
			t.Errorf("%s: the event %s is not described", where, name)
			continue
		}
		for _, wrong := range d.wrong(schema, data, name) {
			t.Errorf("%s: %s", where, wrong)
		}
	}
}

// operation returns the responses of the operation that serves a path, the one
// with the fewest parameters.
func (d description) operation(method, path string) map[string]any {
	path, _, _ = strings.Cut(path, "?")
	var found map[string]any
	least := math.MaxInt
	for pattern, item := range d.paths {
		matches := regexp.MustCompile("^" + regexp.MustCompile(`\{\w+\}`).ReplaceAllString(pattern, "[^/]+") + "$").MatchString(path)
		operation, ok := item.(map[string]any)[strings.ToLower(method)].(map[string]any)
		if n := strings.Count(pattern, "{"); matches && ok && n < least {
			found, least = operation["responses"].(map[string]any), n
		}
	}
	return found
}

// wrong returns where a value does not satisfy a schema. It knows the keywords that
// openapi.json has.
func (d description) wrong(schema map[string]any, value any, at string) []string {
	if ref, ok := schema["$ref"].(string); ok {
		return d.wrong(d.schemas[ref[strings.LastIndex(ref, "/")+1:]].(map[string]any), value, at)
	}
	if choices, ok := schema["oneOf"].([]any); ok {
		fits := 0
		for _, choice := range choices {
			if len(d.wrong(choice.(map[string]any), value, at)) == 0 {
				fits++
			}
		}
		if fits != 1 {
			return []string{fmt.Sprintf("%s fits %d of %d schemas: %v", at, fits, len(choices), value)}
		}
	}
	types, ok := schema["type"].([]any)
	if one, single := schema["type"].(string); single {
		types, ok = []any{one}, true
	}
	if ok && !slices.ContainsFunc(types, func(name any) bool { return isOfType(value, name) }) {
		return []string{fmt.Sprintf("%s is %v, want %v", at, value, types)}
	}
	if enum, ok := schema["enum"].([]any); ok && value != nil && !slices.Contains(enum, value) {
		return []string{fmt.Sprintf("%s is %v, want one of %v", at, value, enum)}
	}
	if n, ok := value.(float64); ok {
		if least, ok := schema["minimum"].(float64); ok && n < least {
			return []string{fmt.Sprintf("%s is %v, below %v", at, n, least)}
		}
		if most, ok := schema["maximum"].(float64); ok && n > most {
			return []string{fmt.Sprintf("%s is %v, above %v", at, n, most)}
		}
	}
	return d.wrongInside(schema, value, at)
}

func (d description) wrongInside(schema map[string]any, value any, at string) (wrong []string) {
	if list, ok := value.([]any); ok {
		items, _ := schema["items"].(map[string]any)
		for i, item := range list {
			wrong = append(wrong, d.wrong(items, item, fmt.Sprintf("%s[%d]", at, i))...)
		}
	}
	object, ok := value.(map[string]any)
	if !ok {
		return wrong
	}
	required, _ := schema["required"].([]any)
	for _, name := range required {
		if _, ok := object[name.(string)]; !ok {
			wrong = append(wrong, fmt.Sprintf("%s has no %v", at, name))
		}
	}
	properties, _ := schema["properties"].(map[string]any)
	for name, v := range object {
		property, ok := properties[name].(map[string]any)
		switch {
		case ok:
			wrong = append(wrong, d.wrong(property, v, at+"."+name)...)
		case schema["additionalProperties"] == false:
			wrong = append(wrong, fmt.Sprintf("%s.%s is not described", at, name))
		}
	}
	return wrong
}

func isOfType(value, name any) bool {
	switch v := value.(type) {
	case nil:
		return name == "null"
	case bool:
		return name == "boolean"
	case string:
		return name == "string"
	case float64:
		return name == "number" || name == "integer" && v == math.Trunc(v)
	case []any:
		return name == "array"
	default:
		return name == "object"
	}
}
