package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// browserView is the session of a browser as it is listed.
type browserView struct {
	ID        string     `json:"id"`
	KeyID     string     `json:"key_id" doc:"The key with which the browser signed in; empty for a user"`
	KeyName   string     `json:"key_name"`
	User      *string    `json:"user" doc:"Who signed in with an identity provider; null: a key did"`
	CreatedAt *time.Time `json:"created_at" doc:"null: not recorded"`
	ExpiresAt time.Time  `json:"expires_at" doc:"Moves with each request of the browser"`
}

// browserRoutes holds the routes that list and end the sessions of browsers.
type browserRoutes struct {
	store BrowserSessions
}

func (br *browserRoutes) mount(e *edge.Edge) {
	const path = "/workspaces/{workspaceId}/sessions"
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "list-sessions", Method: http.MethodGet, Path: path, Summary: "List the sessions of browsers, newest first", Tags: []string{"sign-in"},
		Description: "Those that signed in with the caller's own key; with the permission sessions.admin those of all keys of the workspace.",
	}}, br.list)
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "end-session", Method: http.MethodDelete, Path: path + "/{id}", Summary: "End the session of a browser at once", Tags: []string{"sign-in"},
		Description: "Its open event streams end within two seconds.",
	}}, br.end)
}

func (br *browserRoutes) list(ctx context.Context, p knowledge.Principal, in *struct {
	WorkspacePath
	PageQuery
	User string `query:"user" maxLength:"256" doc:"Those of this person, who signed in with an identity provider"`
}) (*listOutput[browserView], error) {
	sessions, next, err := br.store.SessionsOf(ctx, p, store.SessionQuery{User: in.User, Page: store.Page(in.PageQuery)})
	if err != nil {
		return nil, fmt.Errorf("list sessions: %w", err)
	}
	return page(convert(sessions, func(s store.SignedIn) browserView {
		return browserView{ID: s.ID, KeyID: s.KeyID, KeyName: s.KeyName, User: orNull(s.User), CreatedAt: orNull(s.CreatedAt), ExpiresAt: s.ExpiresAt}
	}), next), nil
}

func (br *browserRoutes) end(ctx context.Context, p knowledge.Principal, in *struct {
	WorkspacePath
	ID string `path:"id" maxLength:"200"`
}) (*struct{}, error) {
	if err := br.store.EndSessionOf(ctx, p, in.ID); err != nil {
		return nil, fmt.Errorf("end session %s: %w", in.ID, err)
	}
	return nil, nil
}
