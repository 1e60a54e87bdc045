package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/following"
	"github.com/cairn-rag/cairn/internal/knowledge"
	objects "github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/store"
)

// ConnectionOptions are the settings of a connection.
type ConnectionOptions struct {
	URL      string `json:"url,omitempty" maxLength:"2048" doc:"The address of the service; drive, sharepoint, notion: leave it out for Google's, Microsoft's public cloud, or Notion's. webdav: of the files of the user who signs in, such as https://cloud.example.com/remote.php/dav/files/ann/. git: of a repository, or of what is above several ones. imap: imaps://imap.example.com, or imap:// with STARTTLS. confluence: such as https://example.atlassian.net/wiki. crawl: of the page or sitemap at which it begins"`
	Username string `json:"username,omitempty" maxLength:"256" doc:"webdav, git, imap: the user who signs in with the secret; git: leave it out for services that look at the token alone. confluence: in the cloud, the mail address of the account; leave it out for a data center"`
	Subject  string `json:"subject,omitempty" maxLength:"256" doc:"drive: the user of Google Workspace for whom the service account acts, by domain-wide delegation. His domain is the organisation of permissions mirror"`
	Tenant   string `json:"tenant,omitempty" maxLength:"256" doc:"sharepoint: the id or the domain of the tenant of Microsoft Entra"`
	ClientID string `json:"client_id,omitempty" maxLength:"256" doc:"sharepoint: the id of the application of Microsoft Entra that signs in"`
	Auth     string `json:"auth,omitempty" maxLength:"32" doc:"imap: password, or xoauth2 for an access token. Default: password"`
}

// connectionView is a connection as it is shown.
type connectionView struct {
	ID         string            `json:"id"`
	Type       string            `json:"type" enum:"webdav,drive,sharepoint,confluence,notion,git,imap,crawl"`
	Options    ConnectionOptions `json:"options"`
	WaitsUntil *time.Time        `json:"waits_until" doc:"The service asked for fewer requests: those of all syncs of the connection wait until then; null: they do not wait"`
	SecretEnds *time.Time        `json:"secret_ends" doc:"When the secret expires, as the service told the last check or run; null: it does not tell"`
	CreatedAt  time.Time         `json:"created_at"`
}

type connectionOutput struct{ Body connectionView }

// ConnectionPath is the path of a connection.
type ConnectionPath struct {
	WorkspacePath
	ID string `path:"id" maxLength:"64" doc:"The connection"`
}

type connectionInput struct {
	WorkspacePath
	Body struct {
		Type    string            `json:"type" enum:"webdav,drive,sharepoint,confluence,notion,git,imap,crawl"`
		Options ConnectionOptions `json:"options" doc:"Each type accepts its own options only"`
		Secret  string            `json:"secret,omitempty" maxLength:"65536" doc:"webdav: the app password of the user, or without a username a bearer token. drive: the JSON file of a key of a service account. sharepoint: the value of a client secret of the application, or the PEM text of a certificate and its private key. git: a token that may read the repository. imap: an app password; with xoauth2 an access token, or JSON by which the service gives one. confluence: an API token of the account, in a data center a personal access token. notion: the access token of an integration. crawl: none. It is sealed and never shown again"`
	} `nameHint:"NewConnection"`
}

type connectionPatchInput struct {
	ConnectionPath
	Body struct {
		Secret string `json:"secret" minLength:"1" maxLength:"65536" doc:"As in POST …/connections: it replaces the secret of before, and is never shown again"`
	} `nameHint:"ConnectionPatch"`
}

// connectionRoutes holds the routes of connections.
type connectionRoutes struct {
	connections following.Store
	syncs       *following.Manager
	now         func() time.Time
}

func (cr *connectionRoutes) mount(e *edge.Edge) {
	const path = "/workspaces/{workspaceId}/connections"
	route := taggedWithStatus("syncs")
	edge.Handle(e, route("add-connection", http.MethodPost, path, "Make a connection to a service",
		"It stores how to sign in to the service, and asks nothing of it: POST …/check does.", http.StatusCreated), cr.add)
	edge.Handle(e, route("list-connections", http.MethodGet, path, "List the connections, newest first", "", 0), cr.list)
	edge.Handle(e, route("get-connection", http.MethodGet, path+"/{id}", "Read a connection", "", 0), cr.get)
	edge.Handle(e, route("patch-connection", http.MethodPatch, path+"/{id}", "Replace the secret of a connection",
		"Its syncs use the new secret from their next request on. The address and the user of a connection do not change: make another one.", 0), cr.patch)
	edge.Handle(e, route("delete-connection", http.MethodDelete, path+"/{id}", "Remove a connection", "One that a sync uses is a conflict.", 0), cr.remove)
	edge.Handle(e, route("check-connection", http.MethodPost, path+"/{id}/check", "Ask the service whether it accepts the connection",
		"With a sync in the request it lists the place of that sync too, and counts what its first run would take in. Nothing is read or stored.", http.StatusOK), cr.check)
}

func (cr *connectionRoutes) add(ctx context.Context, p knowledge.Principal, in *connectionInput) (*connectionOutput, error) {
	id, _ := edge.RunID(ctx)
	c, err := cr.syncs.AddConnection(ctx, p, store.Connection{
		ID: id, Type: objects.Type(in.Body.Type), Options: objects.Settings(in.Body.Options),
	}, in.Body.Secret)
	if err != nil {
		return nil, err
	}
	return &connectionOutput{cr.view(c)}, nil
}

func (cr *connectionRoutes) list(ctx context.Context, p knowledge.Principal, in *struct {
	WorkspacePath
	PageQuery
}) (*listOutput[connectionView], error) {
	list, next, err := cr.connections.Connections(ctx, p, store.Page(in.PageQuery))
	if err != nil {
		return nil, fmt.Errorf("list connections: %w", err)
	}
	return page(convert(list, cr.view), next), nil
}

func (cr *connectionRoutes) get(ctx context.Context, p knowledge.Principal, in *ConnectionPath) (*connectionOutput, error) {
	c, err := cr.connections.Connection(ctx, p, in.ID)
	if err != nil {
		return nil, err
	}
	return &connectionOutput{cr.view(c)}, nil
}

func (cr *connectionRoutes) remove(ctx context.Context, p knowledge.Principal, in *ConnectionPath) (*struct{}, error) {
	return nil, cr.connections.RemoveConnection(ctx, p, in.ID)
}

func (cr *connectionRoutes) patch(ctx context.Context, p knowledge.Principal, in *connectionPatchInput) (*connectionOutput, error) {
	c, err := cr.syncs.ReplaceSecret(ctx, p, in.ID, in.Body.Secret)
	if err != nil {
		return nil, err
	}
	return &connectionOutput{cr.view(c)}, nil
}

func (cr *connectionRoutes) view(c store.Connection) connectionView {
	view := connectionView{
		ID: c.ID, Type: string(c.Type), Options: ConnectionOptions(c.Options), SecretEnds: orNull(c.SecretEnds), CreatedAt: c.CreatedAt,
	}
	if c.WaitsUntil.After(cr.now()) {
		view.WaitsUntil = &c.WaitsUntil
	}
	return view
}
