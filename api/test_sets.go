package api

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/evaluate"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/question"
	"github.com/cairn-rag/cairn/internal/store"
)

// testItem is a question of a test set as clients see it.
type testItem struct {
	ID                string         `json:"id" maxLength:"128"`
	Question          string         `json:"question"`
	Reference         string         `json:"reference,omitempty" doc:"The expected answer, or guidelines for it"`
	ExpectedDocuments []string       `json:"expected_documents,omitempty" doc:"Ids, external ids or names"`
	ExpectedPages     []expectedPage `json:"expected_pages,omitempty" doc:"Numbers, or objects with document and page"`
	Tags              []string       `json:"tags,omitempty"`
	Kind              string         `json:"kind,omitempty" enum:"fact,table,comparison,unanswerable"`
	Passages          []string       `json:"passages,omitempty" doc:"The chunks from which the question was made; of an unanswerable one, those that seem to answer it"`
}

// expectedPage is a page of a testItem.
type expectedPage json.RawMessage

// MarshalJSON implements json.Marshaler.
func (p expectedPage) MarshalJSON() ([]byte, error) { return json.RawMessage(p).MarshalJSON() }

// UnmarshalJSON implements json.Unmarshaler.
func (p *expectedPage) UnmarshalJSON(data []byte) error {
	return (*json.RawMessage)(p).UnmarshalJSON(data)
}

// Schema implements huma.SchemaProvider.
func (expectedPage) Schema(huma.Registry) *huma.Schema {
	one := 1.0
	number := &huma.Schema{Type: huma.TypeInteger, Minimum: &one}
	return &huma.Schema{OneOf: []*huma.Schema{number, {Type: huma.TypeObject, AdditionalProperties: false, Required: []string{"page"}, Properties: map[string]*huma.Schema{
		"document": {Type: huma.TypeString}, "page": number,
	}}}}
}

// testSetView is a test set as clients see it.
type testSetView struct {
	ID        string    `json:"id"`
	ProjectID string    `json:"project_id"`
	Name      string    `json:"name"`
	Version   int       `json:"version" doc:"Counts the changes of the items, 1 = first"`
	Hash      string    `json:"hash" doc:"Of the items of that version"`
	Count     int       `json:"count" doc:"The number of items"`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// testSetWithItems is a test set with a page of its items.
type testSetWithItems struct {
	testSetView
	Items      []testItem                    `json:"items"`
	Generated  *knowledge.GenerationProgress `json:"generated,omitempty" doc:"How a model made it: the questions that were written, kept and dropped, while its run is kept"`
	NextCursor *string                       `json:"next_cursor" doc:"The cursor of the next page of items; null on the last page"`
}

type (
	testSetOutput  struct{ Body testSetView }
	testSetsOutput struct{ Body testSetWithItems }
)

// TestSetPath is the path of a test set.
type TestSetPath struct {
	WorkspacePath
	ID string `path:"test_set" maxLength:"64" doc:"The test set"`
}

// testSetRoutes holds the routes of test sets.
type testSetRoutes struct {
	edge    *edge.Edge
	store   Store
	blobs   Blobs
	readers *runReaders
	now     func() time.Time

	questions *question.Starter
	dispatch  Dispatcher
	views     *views
	log       *slog.Logger
}

func (tr *testSetRoutes) mount(e *edge.Edge) {
	const path = "/workspaces/{workspaceId}/test_sets"
	route := tagged("evaluations")
	tr.mountBodies(e, path)
	edge.Handle(e, route("list-test-sets", http.MethodGet, path, "List test sets, newest first", ""), tr.list)
	edge.Handle(e, route("get-test-set", http.MethodGet, path+"/{test_set}", "Read a test set and a page of its items", ""), tr.get)
	edge.Handle(e, route("delete-test-set", http.MethodDelete, path+"/{test_set}", "Remove a test set",
		"Evaluations keep the questions that they asked."), tr.remove)
	made := func(rt edge.Route) edge.Route {
		rt.Anew, rt.DefaultStatus = true, http.StatusCreated
		return rt
	}
	generate := made(route("generate-test-set", http.MethodPost, path+"/generate", "Make a test set from documents",
		"The questions are of documents that the caller may read, and each names its passages. Without a model they are made at once, from rows of tables and from sentences with a number or a date. "+
			"A model writes and checks them in a run, whose progress says how many were dropped and why; the test set is there when the run has completed."))
	generate.Responses = map[string]*huma.Response{"202": {Description: "A model makes the test set, in the run run_id"}}
	edge.Handle(e, generate, tr.generate)
	edge.Handle(e, made(route("make-test-set-from-feedback", http.MethodPost, path+"/from_feedback", "Make a test set from rated answers",
		"The questions are those of answers that were rated: by the caller alone or, with the permission runs.admin, by everybody. The reference is the answer that somebody expected, else, of an answer that was rated up, the answer.")), tr.fromFeedback)
}

func (tr *testSetRoutes) list(ctx context.Context, p knowledge.Principal, in *struct {
	WorkspacePath
	PageQuery
	Project string `query:"project_id" maxLength:"200" doc:"The id of a project, or its name. Default: every project that the key covers"`
	Name    string `query:"name" maxLength:"512" doc:"Only test sets with this name"`
}) (*listOutput[testSetView], error) {
	project, err := projectID(ctx, tr.store, p, in.Project)
	if err != nil {
		return nil, err
	}
	sets, next, err := tr.store.TestSets(ctx, p, store.TestSetQuery{Project: project, Name: in.Name, Page: store.Page(in.PageQuery)})
	if err != nil {
		return nil, fmt.Errorf("list test sets: %w", err)
	}
	return page(convert(sets, viewTestSet), next), nil
}

func (tr *testSetRoutes) get(ctx context.Context, p knowledge.Principal, in *struct {
	TestSetPath
	PageQuery
	Version int `query:"version" minimum:"1" doc:"An earlier version of the items. Default: the newest"`
}) (*testSetsOutput, error) {
	set, err := tr.store.TestSet(ctx, p, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read test set %s: %w", in.ID, err)
	}
	stored, err := tr.store.TestSetItems(ctx, p, in.ID, in.Version)
	if err != nil {
		return nil, fmt.Errorf("read test set %s: %w", in.ID, err)
	}
	var items []testItem
	if err := json.Unmarshal(stored.Items, &items); err != nil {
		return nil, fmt.Errorf("decode test set %s: %w", in.ID, err)
	}
	out := testSetWithItems{testSetView: viewTestSet(set)}
	if in.Version > 0 {
		out.Version, out.Hash, out.Count = in.Version, stored.Hash, stored.Count
	}
	if out.Generated, err = tr.generated(ctx, p, in.ID); err != nil {
		return nil, err
	}
	out.Items, out.NextCursor, err = pageOf(items, in.PageQuery, 50)
	return &testSetsOutput{out}, err
}

func (tr *testSetRoutes) remove(ctx context.Context, p knowledge.Principal, in *TestSetPath) (*struct{}, error) {
	if err := tr.store.RemoveTestSet(ctx, p, in.ID); err != nil {
		return nil, fmt.Errorf("remove test set %s: %w", in.ID, err)
	}
	return nil, nil
}

// add stores a new test set of a project, which the request names by its id or its name.
func (tr *testSetRoutes) add(ctx context.Context, p knowledge.Principal, project, name string, items []evaluate.Item) (store.TestSet, error) {
	found, err := tr.project(ctx, p, project)
	if err != nil {
		return store.TestSet{}, err
	}
	encoded, err := encodeItems(items)
	if err != nil {
		return store.TestSet{}, err
	}
	id, _ := edge.RunID(ctx)
	set, err := tr.store.AddTestSet(ctx, p, store.TestSet{ID: id, Project: found.ID, Name: name, CreatedAt: tr.now()}, encoded)
	if err != nil {
		return set, fmt.Errorf("store a test set: %w", err)
	}
	return set, nil
}

// project returns the project that a request names, or that the key is held to, or default.
func (tr *testSetRoutes) project(ctx context.Context, p knowledge.Principal, idOrName string) (knowledge.Project, error) {
	if idOrName == "" {
		idOrName = p.Project()
	}
	if idOrName == "" {
		idOrName = "default"
	}
	project, err := tr.store.Project(ctx, p, idOrName)
	if err != nil {
		return project, fmt.Errorf("read project %s: %w", idOrName, err)
	}
	return project, nil
}

func encodeItems(items []evaluate.Item) (store.TestItems, error) {
	encoded, err := json.Marshal(items)
	if err != nil {
		return store.TestItems{}, fmt.Errorf("encode the items of a test set: %w", err)
	}
	return store.TestItems{Items: encoded, Count: len(items), Hash: evaluate.Version(items)}, nil
}

func viewTestSet(s store.TestSet) testSetView {
	return testSetView{ID: s.ID, ProjectID: s.Project, Name: s.Name, Version: s.Version, Hash: s.Hash, Count: s.Count, CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt}
}
