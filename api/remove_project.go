package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// removedProjectView is a project whose removal was accepted.
type removedProjectView struct {
	ID          string           `json:"id"`
	Status      knowledge.Status `json:"status" enum:"deleting"`
	RunID       string           `json:"run_id" doc:"The id of the run; it ends when all data of the project is deleted"`
	OperatorURL string           `json:"operator_url,omitempty"`
	EventsURL   string           `json:"events_url" doc:"The URL of the run's events; needs no key for an hour"`
}

type removedProjectOutput struct {
	Run  string `header:"Cairn-Run-Id"`
	Body removedProjectView
}

// projectRemovals starts the removals of projects, and holds their route.
type projectRemovals struct {
	store    Tenants
	dispatch Dispatcher
	views    *views
}

func (pr *projectRemovals) mount(e *edge.Edge) {
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "delete-project", Method: http.MethodDelete, Path: "/workspaces/{workspaceId}/projects/{id}", DefaultStatus: http.StatusAccepted,
		Summary: "Delete a project with all its data",
		Description: "Deletes its documents, conversations, runs, imports, webhooks and keys. The project is invisible at once; the run ends when all data is deleted. " +
			"A second request returns the run of the first until it has ended. A project with a document under legal hold is answered with 409.", Tags: []string{"projects"},
	}}, pr.removeProject)
}

func (pr *projectRemovals) removeProject(ctx context.Context, p knowledge.Principal, in *ProjectPath) (*removedProjectOutput, error) {
	run, err := pr.start(ctx, p, in.ID)
	if err != nil {
		return nil, err
	}
	return &removedProjectOutput{Run: run.ID, Body: removedProjectView{
		ID: run.Project, Status: knowledge.StatusDeleting, RunID: run.ID,
		OperatorURL: pr.views.links.OperatorURL(run.WorkflowID), EventsURL: pr.views.eventsURL(p, run.ID),
	}}, nil
}

// start hides a project and starts the run that removes it.
func (pr *projectRemovals) start(ctx context.Context, p knowledge.Principal, idOrName string) (store.Run, error) {
	run, err := pr.mark(ctx, p, idOrName)
	if err != nil {
		return run, fmt.Errorf("remove project %s: %w", idOrName, err)
	}
	// The removal is accepted: a client that leaves must not keep it from starting.
	starting, cancel := context.WithTimeout(context.WithoutCancel(ctx), removePatience)
	defer cancel()
	if err := pr.dispatch.RemoveProject(starting, run); err != nil {
		edge.RequestLog(ctx).WarnContext(ctx, "removal starts later", "project", run.Project, "run", run.ID, "error", err)
	}
	return run, nil
}

// mark hides a project, by its id or else by its name.
func (pr *projectRemovals) mark(ctx context.Context, p knowledge.Principal, idOrName string) (store.Run, error) {
	run, err := pr.store.RemoveProject(ctx, p, idOrName, knowledge.NewID())
	if !knowledge.IsCode(err, knowledge.CodeNotFound) {
		return run, err
	}
	project, err := pr.store.Project(ctx, p, idOrName)
	if err != nil {
		return run, err
	}
	return pr.store.RemoveProject(ctx, p, project.ID, knowledge.NewID())
}
