package access

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// jwksPatience bounds a request for the key set.
const jwksPatience = 10 * time.Second

// remoteKeys verifies tokens that a key of the configured key set has signed.
type remoteKeys struct {
	keys   oidc.KeySet
	issuer string
	config *oidc.Config
}

// newRemote returns the keys at the configured address, nil if none is configured. It
// fetches the set when it meets a key that it does not have. Only an operator sets the
// address, so it may be any.
func newRemote(cfg Config) *remoteKeys {
	if cfg.JWKSURL == "" {
		return nil
	}
	// The context carries the client, and outlasts every request.
	ctx := oidc.ClientContext(context.Background(), &http.Client{Timeout: jwksPatience})
	return &remoteKeys{oidc.NewRemoteKeySet(ctx, cfg.JWKSURL), cfg.Issuer, &oidc.Config{
		ClientID: cfg.Audience, SkipClientIDCheck: cfg.Audience == "", SkipIssuerCheck: cfg.Issuer == "",
		SupportedSigningAlgs: []string{oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.EdDSA},
	}}
}

// verify checks the signature, the issuer and the audience of a token. isDown means that
// the key set could not be fetched, which says nothing about the token.
func (r *remoteKeys) verify(ctx context.Context, token string) (isDown bool, err error) {
	keys := &fetchedKeys{KeySet: r.keys}
	_, err = oidc.NewVerifier(r.issuer, keys, r.config).Verify(ctx, token)
	return keys.isDown, err
}

// fetchedKeys is the key set for one token. It remembers whether the set could not be
// fetched, because the verifier drops the type of the error.
type fetchedKeys struct {
	oidc.KeySet
	isDown bool
}

// VerifySignature returns the payload of a token that a key has signed.
func (k *fetchedKeys) VerifySignature(ctx context.Context, token string) ([]byte, error) {
	payload, err := k.KeySet.VerifySignature(ctx, token)
	k.isDown = err != nil && strings.HasPrefix(err.Error(), "fetching keys")
	return payload, err
}

// fromRemote checks that a key of the key set has signed a token with these claims.
func (a *Authenticator) fromRemote(ctx context.Context, token string, claims tokenClaims) (knowledge.Claims, error) {
	isDown, err := a.remote.verify(ctx, token)
	if isDown {
		return knowledge.Claims{}, knowledge.Errorf(knowledge.CodeUnavailable,
			"the key set of this instance (auth.jwt.jwks_url) cannot be fetched, so no token can be checked; try again later, or use an API key").WithCause(err)
	}
	if err != nil {
		return knowledge.Claims{}, unauthorized("this token is not valid: it must be signed by a key of this instance's key set (auth.jwt.jwks_url), not be expired, and have the configured issuer and audience").WithCause(err)
	}
	return a.fromClaims(ctx, claims)
}
