package access

import (
	"context"
	"net/http"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// jwksPatience bounds a request for the key set.
const jwksPatience = 10 * time.Second

// newRemote returns the verifier of tokens that a key of the configured key set has
// signed, nil if none is configured. It fetches the set when it meets a key that it does
// not have. Only an operator sets the address, so it may be any.
func newRemote(cfg Config) *oidc.IDTokenVerifier {
	if cfg.JWKSURL == "" {
		return nil
	}
	// The context carries the client, and outlasts every request.
	ctx := oidc.ClientContext(context.Background(), &http.Client{Timeout: jwksPatience})
	return oidc.NewVerifier(cfg.Issuer, oidc.NewRemoteKeySet(ctx, cfg.JWKSURL), &oidc.Config{
		ClientID: cfg.Audience, SkipClientIDCheck: cfg.Audience == "", SkipIssuerCheck: cfg.Issuer == "",
		SupportedSigningAlgs: []string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.EdDSA},
	})
}

// fromRemote returns the claims of a token that a key of the key set has signed.
func (a *Authenticator) fromRemote(ctx context.Context, token string) (knowledge.Claims, error) {
	var claims tokenClaims
	verified, err := a.remote.Verify(ctx, token)
	if err == nil {
		err = verified.Claims(&claims)
	}
	if err != nil {
		return knowledge.Claims{}, unauthorized("this token is not valid: it must be signed by a key of this instance's key set (auth.jwt.jwks_url), not be expired, and have the configured issuer and audience").WithCause(err)
	}
	return a.fromClaims(ctx, claims)
}
