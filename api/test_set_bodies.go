package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"reflect"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/evaluate"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// testSetBody describes the body of POST test_sets in JSON, and, without the project, that of
// PATCH.
type testSetBody struct {
	ProjectID string     `json:"project_id,omitempty" maxLength:"200" doc:"The id of a project, or its name. Default: the key's project, or default. It stays in a change"`
	Name      string     `json:"name,omitempty" maxLength:"512" doc:"Default: test set"`
	Items     []testItem `json:"items,omitempty" doc:"At most 10,000. In a change other items make a new version; without items they stay"`
}

// sentTestSet is a testSetBody before its items are read.
type sentTestSet struct {
	ProjectID string          `json:"project_id,omitempty" maxLength:"200"`
	Name      string          `json:"name,omitempty" maxLength:"512"`
	Items     json.RawMessage `json:"items,omitempty"`
}

// The media types of test sets beside JSON.
const (
	mediaCSV   = "text/csv"
	mediaLines = "application/x-ndjson"
)

// mountBodies mounts the routes whose bodies are test sets in one of three formats.
func (tr *testSetRoutes) mountBodies(e *edge.Edge, path string) {
	registry := e.OpenAPI().Components.Schemas
	schema := func(t reflect.Type) *huma.MediaType {
		return &huma.MediaType{Schema: registry.Schema(t, true, t.Name())}
	}
	text := &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
	body := &huma.RequestBody{Required: true, Content: map[string]*huma.MediaType{
		"application/json": schema(reflect.TypeFor[testSetBody]()), mediaCSV: text, mediaLines: text,
	}}
	answer := func(description string) *huma.Response {
		return &huma.Response{Description: description, Content: map[string]*huma.MediaType{"application/json": schema(reflect.TypeFor[testSetView]())}}
	}
	word := func(name, in, about string) *huma.Param {
		return &huma.Param{Name: name, In: in, Required: in == "path", Schema: &huma.Schema{Type: huma.TypeString}, Description: about}
	}
	edge.HandleRaw(e, edge.Route{Limit: evaluate.MaxFile, Anew: true, Operation: huma.Operation{
		OperationID: "add-test-set", Method: http.MethodPost, Path: path, Tags: []string{"evaluations"}, Summary: "Store a test set",
		Description: "As JSON, as CSV with a header (id, question, reference, expected_documents, expected_pages, tags, kind; lists as \"a; b\" in one cell), or as JSON lines. CSV and JSON lines name the project and the test set in query parameters.",
		Parameters: []*huma.Param{
			word("workspaceId", "path", "The workspace"),
			word("project_id", "query", "The project of a body in CSV or JSON lines. Default: the key's project, or default"), word("name", "query", "The name of a test set in CSV or JSON lines"),
		},
		RequestBody: body, Responses: map[string]*huma.Response{"201": answer("The stored test set")},
	}}, tr.addTestSet)
	edge.HandleRaw(e, edge.Route{Limit: evaluate.MaxFile, Anew: true, Operation: huma.Operation{
		OperationID: "patch-test-set", Method: http.MethodPatch, Path: path + "/{test_set}", Tags: []string{"evaluations"}, Summary: "Change a test set",
		Description: "Items replace all earlier ones. They make a new version, unless they are the same. Earlier versions stay.",
		Parameters:  []*huma.Param{word("workspaceId", "path", "The workspace"), word("test_set", "path", "The test set"), word("name", "query", "A new name, for a body in CSV or JSON lines")},
		RequestBody: body, Responses: map[string]*huma.Response{"200": answer("The test set as it is now")},
	}}, tr.patchTestSet)
}

func (tr *testSetRoutes) addTestSet(w http.ResponseWriter, r *http.Request, p knowledge.Principal) {
	sent, items, err := tr.read(r)
	if err == nil && len(items) == 0 {
		err = knowledge.Invalid("body.items", "must have at least one item")
	}
	if err != nil {
		edge.WriteError(w, r, err)
		return
	}
	if sent.Name == "" {
		sent.Name = "test set"
	}
	set, err := tr.add(r.Context(), p, sent.ProjectID, sent.Name, items)
	if err != nil {
		edge.WriteError(w, r, err)
		return
	}
	edge.WriteJSON(w, http.StatusCreated, viewTestSet(set))
}

func (tr *testSetRoutes) patchTestSet(w http.ResponseWriter, r *http.Request, p knowledge.Principal) {
	set, err := tr.change(r, p)
	if err != nil {
		edge.WriteError(w, r, err)
		return
	}
	edge.WriteJSON(w, http.StatusOK, viewTestSet(set))
}

func (tr *testSetRoutes) change(r *http.Request, p knowledge.Principal) (set store.TestSet, err error) {
	ctx, id := r.Context(), r.PathValue("test_set")
	if _, err := tr.store.TestSet(ctx, p, id); err != nil {
		return set, fmt.Errorf("read test set %s: %w", id, err)
	}
	sent, items, err := tr.read(r)
	if err != nil {
		return set, err
	}
	if sent.ProjectID != "" {
		return set, knowledge.Invalid("body.project_id", "cannot be changed: make another test set")
	}
	var patch store.TestSetPatch
	if sent.Name != "" {
		patch.Name = &sent.Name
	}
	if items != nil {
		encoded, err := encodeItems(items)
		if err != nil {
			return set, err
		}
		patch.Items = &encoded
	}
	if set, err = tr.store.UpdateTestSet(ctx, p, id, patch); err != nil {
		return set, fmt.Errorf("change test set %s: %w", id, err)
	}
	return set, nil
}

// read reads the body of a request. items are nil if it has none.
func (tr *testSetRoutes) read(r *http.Request) (sent sentTestSet, items []evaluate.Item, err error) {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")) // none: JSON
	format, body := evaluate.FormatJSON, edge.Body(r)
	switch kind {
	case mediaCSV:
		format = evaluate.FormatCSV
	case mediaLines, "application/jsonl", "application/jsonlines":
		format = evaluate.FormatJSONLines
	default:
		if err := tr.edge.DecodeBody(r, &sent); err != nil {
			return sent, nil, err
		}
		if body = sent.Items; len(body) == 0 {
			return sent, nil, nil
		}
	}
	if format != evaluate.FormatJSON {
		sent.ProjectID, sent.Name = r.URL.Query().Get("project_id"), r.URL.Query().Get("name")
	}
	if len(sent.Name) > maxTestSetName {
		return sent, nil, knowledge.Invalid("query.name", "must have at most %d bytes", maxTestSetName)
	}
	if items, err = evaluate.Read(bytes.NewReader(body), format); err != nil {
		return sent, nil, itemsError(err, format)
	}
	return sent, evaluate.WithIDs(items), nil
}

// maxTestSetName bounds the name of a test set, in bytes.
const maxTestSetName = 512

// itemsError returns what is wrong with items as the error that clients see.
func itemsError(err error, format evaluate.Format) error {
	var problems *evaluate.Problems
	if !errors.As(err, &problems) {
		return knowledge.Errorf(knowledge.CodeMalformed, "the items cannot be read as %s", format).WithCause(err)
	}
	fields := make([]knowledge.Field, 0, len(problems.List))
	for _, problem := range problems.List {
		at := "body"
		switch {
		case format == evaluate.FormatJSON && problem.Item >= 0:
			at = fmt.Sprintf("body.items[%d]", problem.Item)
		case format == evaluate.FormatJSON:
			at = "body.items"
		case problem.Line > 0:
			at = fmt.Sprintf("body.line %d", problem.Line)
		}
		if problem.Field != "" {
			at += "." + problem.Field
		}
		fields = append(fields, knowledge.Field{Location: at, Message: strings.TrimPrefix(problem.Message, problem.Field+" ")})
	}
	return knowledge.InvalidFields(fields)
}
