package edge

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/quota"
)

// keyHeader carries an API key, as the seed names it.
const keyHeader = "knowledge-project-apikey"

// WorkspaceHeader names the workspace in which the instance's admin key acts
// where the path names none.
const WorkspaceHeader = "Cairn-Workspace"

// SessionCookie is the cookie of a browser that has signed in.
const SessionCookie = "cairn_session"

// Principal returns the principal of a request: authenticated by its credentials,
// in the workspace of its path ("" = the path has none), as it acts for the user
// whom the request names.
func (e *Edge) Principal(r *http.Request, workspace string, as access.Acting) (knowledge.Principal, error) {
	p, err := e.prove(r, workspace)
	if err != nil {
		return p, err
	}
	if as != (access.Acting{}) {
		if p, err = e.deps.Access.As(r.Context(), p, as); err != nil {
			return p, err
		}
	}
	return p, countRequest(r, p)
}

// AsReader returns the principal without what its key may manage, if the request
// reads for a user: it sees what that user sees.
func AsReader(r *http.Request, p knowledge.Principal) knowledge.Principal {
	as, err := ActingFromQuery(r)
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if reads && p.KeyID() != "" && (err != nil || as.User != "" || as.ExternalUser != "") {
		return p.Reader()
	}
	return p
}

// prove returns the principal of the request's credentials, in the workspace of its
// path, if it has the permission that the route needs. It asks the store once for a request.
func (e *Edge) prove(r *http.Request, workspace string) (knowledge.Principal, error) {
	c := callOf(r.Context())
	if c.sender != nil && c.senderWorkspace == workspace {
		return *c.sender, nil
	}
	credentials := Credentials(r)
	if credentials.Session != "" && changes(r) && !e.FromOwnPage(r) {
		return knowledge.Principal{}, knowledge.Errorf(knowledge.CodeForbidden, "a request with the cookie of a session that changes something has to come from a page of Cairn itself; programs send a key")
	}
	if workspace != "" {
		credentials.Workspace = ""
	}
	p, err := e.deps.Access.Authenticate(r.Context(), credentials)
	if err == nil {
		proved := p
		c.proved = &proved
	}
	if err == nil && workspace != "" {
		p, err = e.deps.Access.In(r.Context(), p, workspace)
	}
	if err == nil {
		err = access.Check(p, c.needs)
		if c.byGrant && p.May(knowledge.DocumentsRead) {
			err = nil
		}
	}
	if err != nil {
		return knowledge.Principal{}, err
	}
	c.sender, c.senderWorkspace = &p, workspace
	if credentials.Session != "" {
		c.senderSession = access.HashKey(credentials.Session)
	}
	return p, nil
}

// Credentials returns the credentials that a request carries.
func Credentials(r *http.Request) access.Credentials {
	c := access.Credentials{Key: r.Header.Get(keyHeader), Workspace: r.Header.Get(WorkspaceHeader)}
	if scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok && strings.EqualFold(scheme, "Bearer") {
		c.Bearer = strings.TrimSpace(token)
	}
	if cookie, err := r.Cookie(SessionCookie); err == nil && c.None() {
		c.Session = cookie.Value
	}
	return c
}

// ActingFromQuery returns the user for whom a request acts, by its query parameters. Two
// users are CodeInvalid.
func ActingFromQuery(r *http.Request) (access.Acting, error) {
	q := r.URL.Query()
	as, err := onePerson(namedInQuery(q)...)
	as.Session = q.Get(sessionName)
	return as, err
}

// PrincipalFromQuery returns the principal of a request, as Principal does, for the user whom
// its query parameters name.
func (e *Edge) PrincipalFromQuery(r *http.Request, workspace string) (knowledge.Principal, error) {
	as, err := ActingFromQuery(r)
	if err != nil {
		return knowledge.Principal{}, err
	}
	return e.Principal(r, workspace, as)
}

// ActingQuery describes the query parameters that ActingFromQuery reads. Inputs of
// operations embed it; guard reads the parameters.
type ActingQuery struct {
	UserID              string `query:"userId" maxLength:"256" doc:"A person of the workspace for whom an API key acts"`
	UserIDSnake         string `query:"user_id" maxLength:"256" doc:"The same as userId"`
	ExternalUserID      string `query:"externalUserId" maxLength:"256" doc:"A user of your application (a customer), for whom an API key acts. Not a person of the workspace"`
	ExternalUserIDSnake string `query:"external_user_id" maxLength:"256" doc:"The same as externalUserId"`
	SessionID           string `query:"session_id" maxLength:"256" doc:"The id of a conversation of the caller"`
}

// ActingBody is the fields of a body that name the user for whom it acts.
type ActingBody struct {
	PersonFields
	SessionID string `json:"session_id,omitempty" maxLength:"256" doc:"The id of a conversation of the caller"`
}

// ActFor returns the principal as it acts for the user whom the body names, or the one
// whom the query parameters named.
func (e *Edge) ActFor(ctx context.Context, p knowledge.Principal, b ActingBody) (knowledge.Principal, error) {
	if b == (ActingBody{}) {
		return p, nil
	}
	a, err := onePerson(append(b.named(), namedBy(p)...)...)
	if err != nil {
		return p, err
	}
	if a.Session = b.SessionID; a.Session == "" {
		a.Session = p.ConversationID()
	}
	acting, err := e.deps.Access.As(ctx, p, a)
	if err != nil {
		return acting, err
	}
	callOf(ctx).acting = &acting
	return acting, quota.Count(ctx, acting, "")
}

// ActingFromBody returns the user for whom a request acts, by its body and its query
// parameters. Two users are CodeInvalid.
func ActingFromBody(r *http.Request, b ActingBody) (access.Acting, error) {
	q := r.URL.Query()
	as, err := onePerson(append(b.named(), namedInQuery(q)...)...)
	as.Session = cmp.Or(b.SessionID, q.Get(sessionName))
	return as, err
}
