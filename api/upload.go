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
	Unchanged   bool             `json:"unchanged,omitempty" doc:"The newest version is equal and was kept; nothing was started. The run is the run of that version"`
}

func (s *Server) registerUpload() {
	registry := s.edge.OpenAPI().Components.Schemas
	schema := func(t reflect.Type) map[string]*huma.MediaType {
		return map[string]*huma.MediaType{"application/json": {Schema: registry.Schema(t, true, t.Name())}}
	}
	// A file in base64 is a third longer; the rest of the body is small.
	limit := min(max(s.cfg.FileBytes/3*4, s.cfg.TextBytes*2)+edge.SmallBody, s.cfg.RequestBytes)
	edge.HandleRaw(s.edge, edge.Route{Scope: knowledge.ScopeWrite, Limit: limit, Anew: true, Operation: huma.Operation{
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
	}}, s.addDocument)
}

func (s *Server) addDocument(w http.ResponseWriter, r *http.Request, p knowledge.Principal) {
	ctx := r.Context()
	var b documentBody
	if err := s.edge.DecodeBody(r, &b); err != nil {
		edge.WriteError(w, r, err)
		return
	}
	project, err := s.intake.Project(ctx, p, r.URL.Query().Get("projectId"))
	if err != nil {
		edge.WriteError(w, r, err)
		return
	}
	taken, err := s.intake.Take(ctx, p, project, intakeRun(ctx), b.document())
	if err != nil {
		edge.WriteError(w, r, err)
		return
	}
	w.Header().Set(runHeader, taken.Run)
	if edge.IsSet(r, "wait") {
		edge.DropBody(r)
		w.Header().Set(eventsHeader, s.eventsURL(p, taken.Run))
		if taken.Document, err = s.outcomeOf(ctx, p, taken); err != nil {
			edge.WriteError(w, r, err)
			return
		}
		view := s.documentView(taken.Document)
		view.Unchanged = taken.Unchanged
		edge.WriteJSON(w, http.StatusOK, view)
		return
	}
	view := s.takenView(p, taken)
	if view.Status != knowledge.StatusDeleting && !taken.Unchanged {
		view.Status = knowledge.StatusPending // as it was when it was taken in
	}
	edge.WriteJSON(w, http.StatusAccepted, acceptedDocument{
		ID: view.ID, Name: view.Name, Status: view.Status, Version: view.Version, RunID: taken.Run,
		OperatorURL: view.OperatorURL, EventsURL: view.EventsURL, Unchanged: taken.Unchanged,
	})
}

// outcomeOf waits until a document that was taken in is ingested, and returns it. An
// unchanged document may have been before.
func (s *Server) outcomeOf(ctx context.Context, p knowledge.Principal, taken intake.Taken) (knowledge.Document, error) {
	if d := taken.Document; taken.Unchanged && d.PublishedVersion == d.Version {
		return d, nil
	}
	return s.settled(ctx, p, taken.Run)
}

// settled waits for the run of a version to end and returns the document as that
// run left it.
func (s *Server) settled(ctx context.Context, p knowledge.Principal, run string) (knowledge.Document, error) {
	row, err := s.deps.Store.Run(ctx, p, run)
	if err != nil {
		return knowledge.Document{}, fmt.Errorf("read run %s: %w", run, err)
	}
	ref, err := s.awaitTurn(ctx, &row, nil)
	if err != nil {
		return knowledge.Document{}, fmt.Errorf("wait for run %s: %w", run, err)
	}
	last, err := s.lastItem(ctx, ref)
	if err != nil {
		return knowledge.Document{}, err
	}
	return s.endedDocument(ctx, p, row, last)
}

// intakeRun returns the run that a request starts.
func intakeRun(ctx context.Context) intake.Run {
	id, repeated := edge.RunID(ctx)
	return intake.Run{ID: id, Repeated: repeated}
}
