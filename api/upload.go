package api

import (
	"context"
	"fmt"
	"net/http"
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/intake"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/view"
)

// acceptedDocument is the answer to a request whose document was accepted.
type acceptedDocument struct {
	ID          string           `json:"id"`
	Name        string           `json:"name"`
	Status      knowledge.Status `json:"status"`
	Version     int              `json:"version"`
	RunID       string           `json:"runId"`
	OperatorURL string           `json:"operatorUrl"`
	EventsURL   string           `json:"eventsUrl"`
	VisibleTo   *view.Readers    `json:"visibleTo,omitempty" doc:"For whom the document is, once it is published"`
	Unchanged   bool             `json:"unchanged,omitempty" doc:"The newest version is equal and was kept; nothing was started. The run is the run of that version"`
}

// uploadRoutes holds the route that takes a document in as JSON.
type uploadRoutes struct {
	edge     *edge.Edge
	store    Runs
	intake   *intake.Intake
	follower *follower
	results  *results
	views    *views
	limit    int64 // of a body, in bytes
}

func (u *uploadRoutes) mount(e *edge.Edge) {
	registry := e.OpenAPI().Components.Schemas
	schema := func(t reflect.Type) map[string]*huma.MediaType {
		return map[string]*huma.MediaType{"application/json": {Schema: registry.Schema(t, true, t.Name())}}
	}
	edge.HandleRaw(e, edge.Route{Limit: u.limit, Anew: true, Operation: huma.Operation{
		OperationID: "add-document", Method: http.MethodPost, Path: "/workspaces/{workspaceId}/webhooks/document",
		Summary: "Upload a document", Tags: []string{"documents"},
		Parameters: []*huma.Param{
			{Name: "workspaceId", In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}},
			{Name: "projectId", In: "query", Schema: &huma.Schema{Type: huma.TypeString}, Description: "Default: the key's project, or default"},
			{Name: "wait", In: "query", Schema: &huma.Schema{Type: huma.TypeBoolean}, Description: "true: answer when the ingestion has ended"},
		},
		RequestBody: &huma.RequestBody{Required: true, Content: schema(reflect.TypeFor[documentBody]())},
		Responses: map[string]*huma.Response{
			"202": {Description: "Accepted; the document is being ingested", Content: schema(reflect.TypeFor[acceptedDocument]())},
			"200": {Description: "With wait=true: the document when its ingestion has ended", Content: schema(reflect.TypeFor[view.Document]())},
		},
	}}, u.addDocument)
}

func (u *uploadRoutes) addDocument(w http.ResponseWriter, r *http.Request, p knowledge.Principal) {
	ctx := r.Context()
	var b documentBody
	if err := u.edge.DecodeBody(r, &b); err != nil {
		edge.WriteError(w, r, err)
		return
	}
	document, err := b.document(p)
	if err != nil {
		edge.WriteError(w, r, err)
		return
	}
	project, err := u.intake.Project(ctx, p, r.URL.Query().Get("projectId"))
	if err != nil {
		edge.WriteError(w, r, err)
		return
	}
	taken, err := u.intake.Take(ctx, p, project, intakeRun(ctx), document)
	if err != nil {
		edge.WriteError(w, r, err)
		return
	}
	w.Header().Set(runHeader, taken.Run)
	if edge.IsSet(r, "wait") {
		edge.DropBody(r)
		w.Header().Set(eventsHeader, u.views.eventsURL(p, taken.Run))
		if taken.Document, err = u.outcomeOf(ctx, p, taken); err != nil {
			edge.WriteError(w, r, err)
			return
		}
		view := u.views.document(taken.Document)
		view.Unchanged, view.VisibleTo = taken.Unchanged, visibleTo(taken)
		edge.WriteJSON(w, http.StatusOK, view)
		return
	}
	view := u.views.acceptedDocument(p, taken)
	if view.Status != knowledge.StatusDeleting && !taken.Unchanged {
		view.Status = knowledge.StatusPending // as it was when it was taken in
	}
	edge.WriteJSON(w, http.StatusAccepted, acceptedDocument{
		ID: view.ID, Name: view.Name, Status: view.Status, Version: view.Version, RunID: taken.Run,
		OperatorURL: view.OperatorURL, EventsURL: view.EventsURL, VisibleTo: view.VisibleTo, Unchanged: taken.Unchanged,
	})
}

// outcomeOf waits until a document that was taken in is ingested, and returns it. An
// unchanged document may have been before.
func (u *uploadRoutes) outcomeOf(ctx context.Context, p knowledge.Principal, taken intake.Taken) (knowledge.Document, error) {
	if d := taken.Document; taken.Unchanged && d.PublishedVersion == d.Version {
		return d, nil
	}
	return u.awaitIngest(ctx, p, taken.Run)
}

// awaitIngest waits for the run of a version to end and returns the document as that
// run left it.
func (u *uploadRoutes) awaitIngest(ctx context.Context, p knowledge.Principal, run string) (knowledge.Document, error) {
	row, err := u.store.Run(ctx, p, run)
	if err != nil {
		return knowledge.Document{}, fmt.Errorf("read run %s: %w", run, err)
	}
	ref, err := u.follower.awaitTurn(ctx, &row, nil)
	if err != nil {
		return knowledge.Document{}, fmt.Errorf("wait for run %s: %w", run, err)
	}
	last, err := u.follower.lastItem(ctx, ref)
	if err != nil {
		return knowledge.Document{}, err
	}
	return u.results.endedDocument(ctx, p, row, last)
}

// intakeRun returns the run that a request starts.
func intakeRun(ctx context.Context) intake.Run {
	id, repeated := edge.RunID(ctx)
	return intake.Run{ID: id, Repeated: repeated}
}
