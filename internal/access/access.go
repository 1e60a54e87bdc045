package access

import (
	"context"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// DefaultWorkspace is where the instance's administrator acts if the request
// names no workspace.
const DefaultWorkspace = "default"

// maxName bounds the name of an end user, in bytes.
const maxName = 256

// Store is all that access asks of the database.
type Store interface {
	// KeyByHash gives the key with this hash; one that is not there, was
	// revoked or has expired is CodeNotFound.
	KeyByHash(ctx context.Context, hash string) (store.Key, error)
	// WorkspaceExists reports whether there is a workspace with this id.
	WorkspaceExists(ctx context.Context, id string) (bool, error)
	// Conversation gives the principal's conversation; somebody else's is
	// CodeNotFound.
	Conversation(ctx context.Context, p knowledge.Principal, id string) (store.Conversation, error)
}

// Config says which JWTs are believed. Without a Secret none are. Issuer and
// Audience are checked where they are set.
type Config struct {
	Issuer   string
	Audience string
	Secret   string
}

// Authenticator makes principals. It is safe for concurrent use.
type Authenticator struct {
	cfg    Config
	store  Store
	secret []byte // signs run tokens
}

// New gives an Authenticator; secret signs run tokens and must stay the same
// over restarts.
func New(cfg Config, s Store, secret []byte) *Authenticator {
	return &Authenticator{cfg: cfg, store: s, secret: secret}
}

// Credentials are what a request brings.
type Credentials struct {
	Key       string // header knowledge-project-apikey
	Bearer    string // Authorization: Bearer, a key or a JWT
	Workspace string // header Cairn-Workspace
}

// Authenticate proves credentials. Missing or wrong ones are CodeUnauthorized, a
// token without a role is CodeForbidden, and a workspace that is not the
// principal's is CodeNotFound.
func (a *Authenticator) Authenticate(ctx context.Context, c Credentials) (knowledge.Principal, error) {
	claims, err := a.claims(ctx, c)
	if err != nil {
		return knowledge.Principal{}, err
	}
	if claims.Instance && c.Workspace == "" {
		c.Workspace = DefaultWorkspace
	}
	return a.in(ctx, claims, c.Workspace)
}

func (a *Authenticator) claims(ctx context.Context, c Credentials) (knowledge.Claims, error) {
	switch {
	case c.Key != "":
		return a.fromKey(ctx, c.Key)
	case isJWT(c.Bearer):
		return a.fromJWT(ctx, c.Bearer)
	case c.Bearer != "":
		return a.fromKey(ctx, c.Bearer)
	}
	return knowledge.Claims{}, unauthorized("send an API key in the header knowledge-project-apikey, or Authorization: Bearer with a key or a token")
}

func (a *Authenticator) fromKey(ctx context.Context, plain string) (knowledge.Claims, error) {
	key, err := a.store.KeyByHash(ctx, HashKey(plain))
	if knowledge.IsCode(err, knowledge.CodeNotFound) {
		return knowledge.Claims{}, unauthorized("this API key is not known, or was revoked, or has expired")
	}
	if err != nil {
		return knowledge.Claims{}, fmt.Errorf("look up API key: %w", err)
	}
	return knowledge.Claims{
		Workspace: key.Workspace, Project: key.Project, Scopes: key.Scopes, Instance: key.Instance, KeyID: key.ID,
	}, nil
}

// In gives the principal as it acts in a workspace: the instance's administrator
// may do so in any that exists, everybody else in its own. Another one is not
// found.
func (a *Authenticator) In(ctx context.Context, p knowledge.Principal, workspace string) (knowledge.Principal, error) {
	claims := p.Claims()
	if claims.Workspace == "" || workspace == "" {
		return knowledge.Principal{}, knowledge.NotFound("workspace", workspace)
	}
	return a.in(ctx, claims, workspace)
}

// in holds claims to a workspace; "" means their own.
func (a *Authenticator) in(ctx context.Context, claims knowledge.Claims, workspace string) (knowledge.Principal, error) {
	if workspace == "" || workspace == claims.Workspace {
		return knowledge.NewPrincipal(claims), nil
	}
	if !claims.Instance {
		return knowledge.Principal{}, knowledge.NotFound("workspace", workspace)
	}
	there, err := a.store.WorkspaceExists(ctx, workspace)
	if err != nil {
		return knowledge.Principal{}, fmt.Errorf("look up workspace: %w", err)
	}
	if !there {
		return knowledge.Principal{}, knowledge.NotFound("workspace", workspace)
	}
	claims.Workspace, claims.ConversationID = workspace, ""
	return knowledge.NewPrincipal(claims), nil
}

// Acting names for whom a request acts.
type Acting struct {
	User         string // the platform's user
	ExternalUser string // the application's own user
	Session      string // the conversation whose attachments count
}

// As gives the principal as it acts for an end user, in a conversation. A key
// may name any user; a JWT is its own user, and another one is CodeForbidden. A
// conversation that is not this principal's is CodeNotFound.
func (a *Authenticator) As(ctx context.Context, p knowledge.Principal, acting Acting) (knowledge.Principal, error) {
	if acting == (Acting{}) {
		return p, nil
	}
	claims := p.Claims()
	if claims.Workspace == "" {
		return knowledge.Principal{}, unauthorized("only a request with an API key or a token can act for a user")
	}
	if err := acting.check(); err != nil {
		return knowledge.Principal{}, err
	}
	byToken := claims.KeyID == ""
	switch {
	case byToken && acting.User != "" && acting.User != claims.User:
		return knowledge.Principal{}, knowledge.Errorf(knowledge.CodeForbidden, "a token acts for its own user: leave userId out, or use an API key")
	case byToken && acting.ExternalUser != "":
		return knowledge.Principal{}, knowledge.Errorf(knowledge.CodeForbidden, "a token cannot act for an external user: use an API key")
	}
	if acting.User != "" {
		claims.User = acting.User
	}
	if acting.ExternalUser != "" {
		claims.ExternalUser = acting.ExternalUser
	}
	claims.ConversationID = ""
	p = knowledge.NewPrincipal(claims)
	if acting.Session == "" {
		return p, nil
	}
	if _, err := a.store.Conversation(ctx, p, acting.Session); err != nil {
		return knowledge.Principal{}, fmt.Errorf("check session: %w", err)
	}
	claims.ConversationID = acting.Session
	return knowledge.NewPrincipal(claims), nil
}

// check refuses names that are no names.
func (acting Acting) check() error {
	for _, f := range []struct{ location, name string }{{"userId", acting.User}, {"external_user_id", acting.ExternalUser}} {
		if len(f.name) > maxName || !utf8.ValidString(f.name) || strings.ContainsFunc(f.name, unicode.IsControl) {
			message := "must be at most 256 bytes, without control characters"
			e := knowledge.Errorf(knowledge.CodeInvalid, "%s %s", f.location, message)
			e.Fields = []knowledge.Field{{Location: f.location, Message: message}}
			return e
		}
	}
	return nil
}

// ForDocumentRun is the principal with which the readers of a signed link see
// what a document's ingest or removal tells about that document: whoever manages
// its project.
func ForDocumentRun(workspace, project string) knowledge.Principal {
	return knowledge.NewPrincipal(knowledge.Claims{
		Workspace: workspace, Project: project, Scopes: []knowledge.Scope{knowledge.ScopeWrite},
	})
}

func unauthorized(message string) *knowledge.Error {
	return knowledge.Errorf(knowledge.CodeUnauthorized, "%s", message)
}
