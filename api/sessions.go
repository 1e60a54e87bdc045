package api

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/audit"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// sessionView is who a browser is signed in as.
type sessionView struct {
	SignedIn  bool     `json:"signedIn"`
	User      *string  `json:"user" doc:"The name of the key or of the user; null if nobody is signed in"`
	Roles     []string `json:"roles" doc:"Out of reader, editor and admin"`
	Workspace *string  `json:"workspace"`

	Permissions []string `json:"permissions" doc:"What whoever is signed in may do (GET permissions)"`
	Clearance   *string  `json:"clearance" doc:"The level of classification up to which whoever is signed in reaches documents"`
	Levels      []string `json:"levels" doc:"The levels of classification of this instance, the lowest first; empty if nobody is signed in"`
	BaseLevel   *string  `json:"baseLevel" doc:"The level of documents without a classification"`

	Methods []string `json:"methods" doc:"How a browser can sign in: oidc (GET /auth/login) and key"`
}

type sessionOutput struct {
	SetCookie string `header:"Set-Cookie"`
	Body      sessionView
}

// signedOut is the answer to a browser that signs out. It has a body if the session is to end at
// the identity provider too.
type signedOut struct {
	Status    int
	SetCookie string `header:"Set-Cookie"`
	Body      struct {
		Address string `json:"address" doc:"Where the browser is to go next, to sign out at the identity provider, which sends it back"`
	} `nameHint:"SignedOut"`
}

// BrowserRequest is the request that an operation came with.
type BrowserRequest struct{ request *http.Request }

// Resolve keeps the request for the handler.
func (b *BrowserRequest) Resolve(ctx huma.Context) []error {
	b.request, _ = humago.Unwrap(ctx)
	return nil
}

type signInInput struct {
	BrowserRequest
	Body struct {
		Key   string `json:"key,omitempty" maxLength:"512" doc:"An API key"`
		Token string `json:"token,omitempty" maxLength:"512" doc:"The token of the link that cairn up prints: it signs in once, within 15 minutes"`
	} `nameHint:"SignIn"`
}

// SessionAccess signs browsers in and out.
type SessionAccess interface {
	// SignIn and SignInOnce return the cookie of a new session. A key or a token that is not
	// valid is CodeUnauthorized.
	SignIn(ctx context.Context, key string) (cookie string, err error)
	SignInOnce(ctx context.Context, token string) (cookie string, err error)
	// SignOut ends the session of a cookie. If it began with an identity provider that browsers
	// can sign out of, it returns the address to send the browser to, "" otherwise; back is the
	// page to which the identity provider sends it.
	SignOut(ctx context.Context, cookie, back string) (address string, err error)
	// Session returns who sent credentials. Missing or wrong ones are CodeUnauthorized.
	Session(ctx context.Context, c access.Credentials) (access.SessionView, error)
}

// sessionRoutes holds the routes by which a browser signs in.
type sessionRoutes struct {
	access  SessionAccess
	methods []string
	levels  knowledge.Levels
	edge    *edge.Edge
}

func (s *sessionRoutes) mount(e *edge.Edge) {
	route := func(method, id, summary string) edge.Route {
		return edge.Route{Public: true, Operation: huma.Operation{OperationID: id, Method: method, Path: "/auth/session", Summary: summary, Tags: []string{"sign-in"}}}
	}
	edge.Handle(e, route(http.MethodGet, "get-session", "Who is signed in"), s.get)
	signIn := route(http.MethodPost, "sign-in", "Sign a browser in with an API key")
	signIn.SignsIn = true
	edge.Handle(e, signIn, s.signIn)
	signOut := route(http.MethodDelete, "sign-out", "Sign a browser out")
	signOut.Description = "A session that began with an identity provider is to end there too, if its discovery document names an end_session_endpoint: the answer has the address then."
	signOut.DefaultStatus = http.StatusOK
	signOut.Responses = map[string]*huma.Response{"204": {Description: "Signed out; there is nowhere to go"}}
	edge.Handle(e, signOut, s.signOut)
}

// get serves GET /auth/session. It moves the end of the cookie with the end of the session.
// A wrong key or JWT is refused as everywhere, so that nobody tries keys here uncounted.
func (s *sessionRoutes) get(_ context.Context, _ knowledge.Principal, in *struct{ BrowserRequest }) (*sessionOutput, error) {
	r := in.request
	credentials := edge.Credentials(r)
	out, err := s.view(r.Context(), credentials)
	if err == nil && out.Body.SignedIn && credentials.Session != "" {
		out.SetCookie = s.cookie(r, credentials.Session, sessionSeconds)
	}
	return out, err
}

func (s *sessionRoutes) view(ctx context.Context, c access.Credentials) (*sessionOutput, error) {
	body := sessionView{Roles: []string{}, Permissions: []string{}, Levels: []string{}, Methods: s.methods}
	found, err := s.access.Session(ctx, c)
	if knowledge.IsCode(err, knowledge.CodeUnauthorized) && c.Key == "" && c.Bearer == "" {
		return &sessionOutput{Body: body}, nil
	}
	if err != nil {
		return nil, err
	}
	if found.KeyID != "" {
		audit.SignedIn(ctx, "key:"+found.KeyID, found.Workspace)
	}
	body.SignedIn, body.User, body.Roles, body.Workspace = true, &found.User, found.Roles, &found.Workspace
	body.Permissions, body.Clearance, body.Levels, body.BaseLevel = found.Permissions, orNull(found.Clearance), s.levels.All(), orNull(s.levels.Base())
	return &sessionOutput{Body: body}, nil
}

// signIn serves POST /auth/session.
func (s *sessionRoutes) signIn(_ context.Context, _ knowledge.Principal, in *signInInput) (*sessionOutput, error) {
	r := in.request
	if browser := r.Header.Get("Sec-Fetch-Site") + r.Header.Get("Origin"); browser != "" && !s.edge.FromOwnPage(r) {
		return nil, knowledge.Errorf(knowledge.CodeForbidden, "a browser signs in on a page of Cairn itself")
	}
	sign, credential := s.access.SignIn, in.Body.Key
	switch {
	case (in.Body.Key == "") == (in.Body.Token == ""):
		return nil, knowledge.Invalid("body", "give either key or token")
	case in.Body.Token != "":
		sign, credential = s.access.SignInOnce, in.Body.Token
	}
	cookie, err := sign(r.Context(), credential)
	if err != nil {
		return nil, err
	}
	out, err := s.view(r.Context(), access.Credentials{Session: cookie})
	if err == nil {
		out.SetCookie = s.cookie(r, cookie, sessionSeconds)
	}
	return out, err
}

// signOut serves DELETE /auth/session.
func (s *sessionRoutes) signOut(_ context.Context, _ knowledge.Principal, in *struct{ BrowserRequest }) (*signedOut, error) {
	r, out := in.request, &signedOut{Status: http.StatusNoContent}
	cookie, err := r.Cookie(edge.SessionCookie)
	if err != nil {
		return out, nil // nobody is signed in
	}
	if found, err := s.access.Session(r.Context(), access.Credentials{Session: cookie.Value}); err == nil {
		actor := "key:" + found.KeyID
		if found.KeyID == "" {
			actor = "user:" + found.User
		}
		audit.SignedIn(r.Context(), actor, found.Workspace)
	}
	if !s.edge.FromOwnPage(r) {
		return nil, knowledge.Errorf(knowledge.CodeForbidden, "a browser signs out on a page of Cairn itself")
	}
	out.SetCookie = s.cookie(r, "", -1)
	if out.Body.Address, err = s.access.SignOut(r.Context(), cookie.Value, s.edge.Address(r)+"/"); out.Body.Address != "" {
		out.Status = http.StatusOK
	}
	return out, err
}

const sessionSeconds = int(access.SessionLife / time.Second)

// cookie returns the cookie of a session, which pages cannot read, for a number of seconds;
// -1 removes it.
func (s *sessionRoutes) cookie(r *http.Request, value string, seconds int) string {
	return sessionCookie(s.edge, r, value, seconds)
}

func sessionCookie(e *edge.Edge, r *http.Request, value string, seconds int) string {
	cookie := http.Cookie{
		Name: edge.SessionCookie, Value: value, Path: "/", MaxAge: seconds, HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: isSecure(e, r),
	}
	return cookie.String()
}

// isSecure reports whether browsers reach the API by https.
func isSecure(e *edge.Edge, r *http.Request) bool { return strings.HasPrefix(e.Address(r), "https://") }
