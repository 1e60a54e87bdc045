package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// keyHeader carries an API key, as the seed names it.
const keyHeader = "knowledge-project-apikey"

// workspaceHeader names the workspace in which the instance's admin key acts
// where the path names none.
const workspaceHeader = "Cairn-Workspace"

// principal gives who asks: by the credentials of the request, in the workspace
// of its path ("" = none in it), acting for whom it names.
func (s *Server) principal(r *http.Request, workspace string, acting access.Acting) (knowledge.Principal, error) {
	p, err := s.prove(r, workspace)
	if err != nil {
		return p, err
	}
	if acting == (access.Acting{}) {
		return p, nil
	}
	return s.deps.Access.As(r.Context(), p, acting)
}

// asReader holds a key that reads for a user to what that user reaches, whatever
// the key may manage.
func asReader(r *http.Request, p knowledge.Principal) knowledge.Principal {
	acting := actingFromQuery(r)
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if reads && p.KeyID() != "" && (acting.User != "" || acting.ExternalUser != "") {
		return p.Reader()
	}
	return p
}

// inConversation lets the principal see what is attached to a conversation, if
// that is its own.
func (s *Server) inConversation(ctx context.Context, p knowledge.Principal, id string) (knowledge.Principal, error) {
	if id == "" {
		return p, nil
	}
	there, err := s.deps.Access.As(ctx, p, access.Acting{User: p.User(), ExternalUser: p.ExternalUser(), Session: id})
	if knowledge.IsCode(err, knowledge.CodeNotFound) {
		return p, nil
	}
	return there, err
}

// prove gives whose credentials a request carries, in the workspace of its path.
func (s *Server) prove(r *http.Request, workspace string) (knowledge.Principal, error) {
	c := callOf(r.Context())
	if c.proved != nil && c.provedIn == workspace {
		return *c.proved, nil
	}
	given := credentials(r)
	if workspace != "" {
		given.Workspace = ""
	}
	p, err := s.deps.Access.Authenticate(r.Context(), given)
	if err == nil && workspace != "" {
		p, err = s.deps.Access.In(r.Context(), p, workspace)
	}
	if err != nil {
		return knowledge.Principal{}, err
	}
	c.proved, c.provedIn = &p, workspace
	return p, nil
}

// credentials are those that a request carries.
func credentials(r *http.Request) access.Credentials {
	c := access.Credentials{Key: r.Header.Get(keyHeader), Workspace: r.Header.Get(workspaceHeader)}
	if scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		c.Bearer = strings.TrimSpace(token)
	}
	return c
}

// actingFromQuery reads for whom a request acts from its query parameters.
func actingFromQuery(r *http.Request) access.Acting {
	q := r.URL.Query()
	return access.Acting{
		User:         q.Get("userId"),
		ExternalUser: q.Get("external_user_id"),
		Session:      q.Get("session_id"),
	}
}

// ActingQuery are the query parameters of actingFromQuery, for the description of
// operations. guard reads them. (What huma is to see of an embedded type, the
// type must be exported for.)
type ActingQuery struct {
	UserID         string `query:"userId" maxLength:"256" doc:"The end user for whom an API key asks"`
	ExternalUserID string `query:"external_user_id" maxLength:"256" doc:"The application's own user id"`
	SessionID      string `query:"session_id" maxLength:"256" doc:"A conversation of the caller"`
}

// ActingBody are the fields of a body that say for whom it acts.
type ActingBody struct {
	UserID         string `json:"userId,omitempty" maxLength:"256" doc:"The end user for whom an API key asks"`
	ExternalUserID string `json:"external_user_id,omitempty" maxLength:"256" doc:"The application's own user id"`
	SessionID      string `json:"session_id,omitempty" maxLength:"256" doc:"A conversation of the caller"`
}

// actFor lets the principal act for whom the body names, beside whom the query
// named.
func (s *Server) actFor(ctx context.Context, p knowledge.Principal, b ActingBody) (knowledge.Principal, error) {
	if b == (ActingBody{}) {
		return p, nil
	}
	a := access.Acting{User: b.UserID, ExternalUser: b.ExternalUserID, Session: b.SessionID}
	setDefault(&a.Session, p.ConversationID())
	return s.deps.Access.As(ctx, p, a)
}
