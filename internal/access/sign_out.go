package access

import (
	"context"
	"net/url"
	"time"
)

// signOutPatience bounds the wait for the document of the identity provider when a browser signs
// out. Without it the session ends here alone.
const signOutPatience = 3 * time.Second

// signOut returns where a browser ends its session at the identity provider, "" if it cannot.
// back is the page to which the identity provider sends it.
func (i *identityProvider) signOut(ctx context.Context, back string) string {
	ctx, cancel := context.WithTimeout(ctx, signOutPatience)
	defer cancel()
	p, err := i.provider(ctx)
	if err != nil {
		return "" // it cannot be reached; the session here has ended
	}
	var document struct {
		Endpoint string `json:"end_session_endpoint"`
	}
	if p.Claims(&document) != nil {
		return "" // it is no text
	}
	return SignOutAddress(i.cfg, document.Endpoint, back)
}

// SignOutAddress returns the address to which a browser is sent to sign out at an identity
// provider (OpenID Connect RP-Initiated Logout), whose discovery document names this endpoint.
// It is "" for an endpoint to which no browser is sent: one that is neither of https nor of the
// scheme of the issuer, or has parts that an endpoint does not have. back is the page to which
// the identity provider sends the browser.
func SignOutAddress(cfg OIDC, endpoint, back string) string {
	issuer, err := url.Parse(cfg.Issuer)
	if err != nil {
		return ""
	}
	u, err := url.Parse(endpoint)
	if err != nil || u.Scheme != "https" && (u.Scheme != "http" || issuer.Scheme != "http") {
		return ""
	}
	if u.Hostname() == "" || u.User != nil || u.Fragment != "" {
		return ""
	}
	query := u.Query()
	query.Set("client_id", cfg.ClientID)
	query.Set("post_logout_redirect_uri", back)
	u.RawQuery = query.Encode()
	return u.String()
}
