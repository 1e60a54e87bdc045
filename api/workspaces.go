package api

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

type workspaceView struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"created_at"`
}

type newWorkspaceInput struct {
	Body struct {
		ID   string `json:"id" maxLength:"63" doc:"Lower case letters, digits, - and _"`
		Name string `json:"name,omitempty" maxLength:"200" doc:"Default: the id"`
	} `nameHint:"NewWorkspace"`
}

type workspaceOutput struct{ Body workspaceView }

// workspaceRoutes holds the routes of workspaces.
type workspaceRoutes struct {
	store Tenants
	now   func() time.Time
}

func (wr *workspaceRoutes) mount(e *edge.Edge) {
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "create-workspace", Method: http.MethodPost, Path: "/workspaces", DefaultStatus: http.StatusCreated,
		Summary: "Create a workspace", Description: "Needs the instance's admin key.", Tags: []string{"workspaces"},
	}}, wr.createWorkspace)
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "list-workspaces", Method: http.MethodGet, Path: "/workspaces",
		Summary: "List the workspaces", Tags: []string{"workspaces"},
	}}, wr.listWorkspaces)
}

func (wr *workspaceRoutes) createWorkspace(ctx context.Context, _ knowledge.Principal, in *newWorkspaceInput) (*workspaceOutput, error) {
	if !knowledge.ValidSlug(in.Body.ID) {
		return nil, knowledge.Invalid("body.id", "must be 1 to 63 lower case letters, digits, - or _, and begin with a letter or digit")
	}
	w := store.Workspace{ID: in.Body.ID, Name: strings.TrimSpace(in.Body.Name), CreatedAt: wr.now()}
	if w.Name == "" {
		w.Name = w.ID
	}
	err := wr.store.CreateWorkspace(ctx, w)
	if _, again := edge.RunID(ctx); again && knowledge.IsCode(err, knowledge.CodeConflict) {
		err = nil // an earlier try of the request made it
	}
	if err != nil {
		return nil, fmt.Errorf("create workspace %s: %w", w.ID, err)
	}
	audit.Made(ctx, w.ID)
	return &workspaceOutput{viewWorkspace(w)}, nil
}

func (wr *workspaceRoutes) listWorkspaces(ctx context.Context, p knowledge.Principal, in *struct{ PageQuery }) (*listOutput[workspaceView], error) {
	workspaces, next, err := wr.store.Workspaces(ctx, p, store.Page(in.PageQuery))
	if err != nil {
		return nil, fmt.Errorf("list workspaces: %w", err)
	}
	return page(convert(workspaces, viewWorkspace), next), nil
}

func viewWorkspace(w store.Workspace) workspaceView {
	return workspaceView{ID: w.ID, Name: w.Name, CreatedAt: w.CreatedAt}
}
