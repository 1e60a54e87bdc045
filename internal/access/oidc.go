package access

import (
	"cmp"
	"context"
	"crypto/subtle"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	// providerAge is how long the document of an identity provider is trusted. Its keys are
	// fetched anew whenever a token names one that is not known.
	providerAge = time.Hour
	// providerPatience bounds a request to the identity provider.
	providerPatience = 10 * time.Second
)

// OIDC configures the sign-in of browsers with an identity provider. It is off without an
// Issuer.
type OIDC struct {
	Issuer       string
	ClientID     string
	ClientSecret string // "" = a public client
	Scopes       []string
	Claims       OIDCClaims
	// Workspace is the workspace of those who sign in if Claims.Workspace is "".
	Workspace string
	// Workspaces are those that the claim may name. Empty = all.
	Workspaces []string
	// Others connects to what the document of the issuer names on other hosts than its own.
	Others http.RoundTripper
}

// OIDCClaims names the claims of an ID token. "" = none, but for User, which is sub.
type OIDCClaims struct{ User, Groups, Roles, Workspace, Clearance string }

// identityProvider signs browsers in. It is safe for concurrent use.
type identityProvider struct {
	cfg    OIDC
	client *http.Client

	mu    sync.Mutex
	found *oidc.Provider
	at    time.Time
}

// newIdentityProvider returns the provider of a configuration, nil without an issuer.
func newIdentityProvider(cfg OIDC) *identityProvider {
	if cfg.Issuer == "" {
		return nil
	}
	issuer, err := url.Parse(cfg.Issuer)
	if err != nil {
		issuer = &url.URL{} // the configuration was checked
	}
	return &identityProvider{cfg: cfg, client: &http.Client{
		Timeout: providerPatience, Transport: backChannel{host: issuer.Host, own: http.DefaultTransport, others: cfg.Others},
	}}
}

// backChannel connects to the host of the issuer, which an operator has configured and which may
// be on a private network, and checks every other address that the issuer's document names.
type backChannel struct {
	host        string
	own, others http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (b backChannel) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host == b.host || b.others == nil {
		return b.own.RoundTrip(r)
	}
	return b.others.RoundTrip(r)
}

// provider returns what the document of the issuer says. One that cannot be fetched is
// CodeUnavailable.
func (i *identityProvider) provider(ctx context.Context) (*oidc.Provider, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.found != nil && time.Since(i.at) < providerAge {
		return i.found, nil
	}
	found, err := oidc.NewProvider(oidc.ClientContext(ctx, i.client), i.cfg.Issuer)
	if err != nil {
		return nil, knowledge.Errorf(knowledge.CodeUnavailable, "the identity provider of this instance (auth.oidc.issuer) cannot be reached, or says that it is another one; try again later").WithCause(err)
	}
	i.found, i.at = found, time.Now()
	return found, nil
}

// client returns the OAuth client of a redirect address.
func (i *identityProvider) oauth(p *oidc.Provider, redirect string) *oauth2.Config {
	return &oauth2.Config{ClientID: i.cfg.ClientID, ClientSecret: i.cfg.ClientSecret, Endpoint: p.Endpoint(), RedirectURL: redirect, Scopes: i.cfg.Scopes}
}

// address returns where a browser begins a sign-in.
func (i *identityProvider) address(ctx context.Context, begun signInBegun) (string, error) {
	p, err := i.provider(ctx)
	if err != nil {
		return "", err
	}
	return i.oauth(p, begun.Redirect).AuthCodeURL(begun.State, oidc.Nonce(begun.Nonce), oauth2.S256ChallengeOption(begun.Verifier)), nil
}

// redeem returns the claims of the ID token that a code stands for.
func (i *identityProvider) redeem(ctx context.Context, code string, begun signInBegun) (idClaims, error) {
	p, err := i.provider(ctx)
	if err != nil {
		return nil, err
	}
	ctx = oidc.ClientContext(ctx, i.client)
	token, err := i.oauth(p, begun.Redirect).Exchange(ctx, code, oauth2.VerifierOption(begun.Verifier))
	if err != nil {
		return nil, exchangeFailure(err)
	}
	claims, err := i.verify(ctx, p, token, begun.Nonce)
	if err != nil {
		return nil, refusedSignIn("the identity provider sent an ID token that is not valid").WithCause(err)
	}
	if p.UserInfoEndpoint() == "" || i.cfg.Claims.within(claims) {
		return claims, nil
	}
	return i.withUserInfo(ctx, p, token, claims)
}

// verify checks the ID token of an answer: its form, signature, issuer, audience, times and
// nonce, and that it belongs to the access token.
func (i *identityProvider) verify(ctx context.Context, p *oidc.Provider, token *oauth2.Token, nonce string) (idClaims, error) {
	raw, ok := token.Extra("id_token").(string)
	if !ok {
		return nil, fmt.Errorf("the answer has no id_token")
	}
	claims, err := idTokenForm(raw, time.Now())
	if err != nil {
		return nil, err
	}
	verifier := p.VerifierContext(ctx, &oidc.Config{
		ClientID: i.cfg.ClientID, SupportedSigningAlgs: asymmetric(), Now: func() time.Time { return time.Now().Add(-jwtLeeway) },
	})
	id, err := verifier.Verify(ctx, raw)
	if err != nil {
		return nil, err
	}
	if subtle.ConstantTimeCompare([]byte(id.Nonce), []byte(nonce)) != 1 {
		return nil, fmt.Errorf("the nonce is not that of this sign-in")
	}
	if party, _ := claims["azp"].(string); (party != "" || len(id.Audience) > 1) && party != i.cfg.ClientID {
		return nil, fmt.Errorf("azp is %q", party)
	}
	if id.AccessTokenHash != "" {
		return claims, id.VerifyAccessToken(token.AccessToken)
	}
	return claims, nil
}

// withUserInfo adds the claims that the ID token lacks and the user info has.
func (i *identityProvider) withUserInfo(ctx context.Context, p *oidc.Provider, token *oauth2.Token, claims idClaims) (idClaims, error) {
	info, err := p.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil {
		return nil, knowledge.Errorf(knowledge.CodeUnavailable, "the identity provider does not answer with what it knows of the user; try again later").WithCause(err)
	}
	if info.Subject != claims["sub"] {
		return nil, refusedSignIn("the identity provider answered with what it knows of another user")
	}
	more := idClaims{}
	if err := info.Claims(&more); err != nil {
		return nil, refusedSignIn("the identity provider sent user info that cannot be read").WithCause(err)
	}
	for name, value := range claims {
		more[name] = value
	}
	return more, nil
}

// asymmetric are the algorithms with which an identity provider may sign. The secret of the
// client and a public key are no keys to sign with.
func asymmetric() []string {
	return []string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.EdDSA}
}

// exchangeFailure returns the error for a code that was not redeemed.
func exchangeFailure(err error) error {
	var refused *oauth2.RetrieveError
	if asRetrieveError(err, &refused) && refused.Response != nil && refused.Response.StatusCode < http.StatusInternalServerError {
		return refusedSignIn("the identity provider refuses the code of this sign-in").WithCause(err)
	}
	return knowledge.Errorf(knowledge.CodeUnavailable, "the identity provider does not redeem the code of this sign-in; try again later").WithCause(err)
}

func refusedSignIn(reason string) *knowledge.Error {
	return unauthorized(cmp.Or(reason, "this sign-in is not valid") + "; sign in again")
}
