package api

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	callbackPath = "/auth/callback"
	// signInCookie holds what proves that a browser finishes a sign-in that it has begun.
	signInCookie = "cairn_sign_in"
)

// ProviderAccess signs browsers in with an identity provider.
type ProviderAccess interface {
	// SignInMethods returns how browsers can sign in: oidc, if there is an identity provider,
	// and key.
	SignInMethods() []string
	// BeginSignIn returns the address to send a browser to, and its cookie. Without an identity
	// provider it is CodeNotFound.
	BeginSignIn(ctx context.Context, browser, redirect, page string) (address, cookie string, err error)
	// FinishSignIn returns the cookie of the session of a browser that comes back, and the page
	// to go to. One that the identity provider has not signed in is CodeUnauthorized, and one
	// without a role CodeForbidden.
	FinishSignIn(ctx context.Context, answer access.SignInAnswer) (cookie, page string, err error)
}

// providerRoutes holds the routes by which a browser signs in with an identity provider.
type providerRoutes struct {
	access ProviderAccess
	edge   *edge.Edge
}

func (pr *providerRoutes) mount(e *edge.Edge) {
	text := &huma.Schema{Type: huma.TypeString}
	edge.HandleRaw(e, edge.Route{Public: true, Operation: huma.Operation{
		OperationID: "begin-sign-in", Method: http.MethodGet, Path: "/auth/login", Summary: "Send a browser to the identity provider", Tags: []string{"sign-in"},
		Description: "OpenID Connect: authorization code with PKCE, state and nonce. 404: no identity provider is configured (auth.oidc).",
		Parameters:  []*huma.Param{{Name: "return", In: "query", Schema: text, Description: "The page of the console to come back to, such as /documents"}},
		Responses:   map[string]*huma.Response{"302": {Description: "To the identity provider"}},
	}}, pr.begin)
	edge.HandleRaw(e, edge.Route{Public: true, SignsIn: true, Operation: huma.Operation{
		OperationID: "finish-sign-in", Method: http.MethodGet, Path: callbackPath, Summary: "Come back from the identity provider", Tags: []string{"sign-in"},
		Description: "The identity provider sends browsers here. A page that asks for text/html and is refused goes to the console, which says why.",
		Parameters: []*huma.Param{
			{Name: "state", In: "query", Schema: text}, {Name: "code", In: "query", Schema: text}, {Name: "iss", In: "query", Schema: text}, {Name: "error", In: "query", Schema: text},
		},
		Responses: map[string]*huma.Response{"302": {Description: "Signed in, to the page of return"}},
	}}, pr.finish)
}

// begin serves GET /auth/login.
func (pr *providerRoutes) begin(w http.ResponseWriter, r *http.Request, _ knowledge.Principal) {
	browser := ""
	if cookie, err := r.Cookie(signInCookie); err == nil {
		browser = cookie.Value
	}
	address, browser, err := pr.access.BeginSignIn(r.Context(), browser, pr.edge.Address(r)+callbackPath, access.PageWithin(r.URL.Query().Get("return")))
	if err != nil {
		pr.refuse(w, r, "/", err)
		return
	}
	http.SetCookie(w, &http.Cookie{
		Name: signInCookie, Value: browser, Path: "/auth", MaxAge: int(access.SignInLife.Seconds()), HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: isSecure(pr.edge, r),
	})
	pr.redirect(w, address)
}

// finish serves GET /auth/callback.
func (pr *providerRoutes) finish(w http.ResponseWriter, r *http.Request, _ knowledge.Principal) {
	query := r.URL.Query()
	answer := access.SignInAnswer{State: query.Get("state"), Code: query.Get("code"), Issuer: query.Get("iss"), Error: query.Get("error")}
	if cookie, err := r.Cookie(signInCookie); err == nil {
		answer.Browser = cookie.Value
	}
	session, page, err := pr.access.FinishSignIn(r.Context(), answer)
	if err != nil {
		pr.refuse(w, r, page, err)
		return
	}
	w.Header().Add("Set-Cookie", sessionCookie(pr.edge, r, session, sessionSeconds))
	pr.redirect(w, page)
}

// refuse answers a browser with the console, which says why, and any other client with the
// error.
func (pr *providerRoutes) refuse(w http.ResponseWriter, r *http.Request, page string, err error) {
	if !strings.Contains(r.Header.Get("Accept"), "text/html") {
		edge.WriteError(w, r, err)
		return
	}
	pr.redirect(w, page+"#refused="+url.QueryEscape(string(edge.RefusalOf(r, err))))
}

func (pr *providerRoutes) redirect(w http.ResponseWriter, address string) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Location", address)
	w.WriteHeader(http.StatusFound)
}
