package access

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// jwtLeeway is the tolerated difference between two clocks.
const jwtLeeway = 30 * time.Second

// tokenClaims are the claims of a JWT that Cairn uses.
type tokenClaims struct {
	Subject   string
	Workspace string
	Roles     []string
	Groups    []string
	Clearance string
	Expires   int64 // Unix seconds
}

// isJWT distinguishes a JWT from a key: a JWT begins with a JSON object in
// base64 and has three parts.
func isJWT(bearer string) bool {
	return strings.HasPrefix(bearer, "eyJ") && strings.Count(bearer, ".") == 2
}

func (a *Authenticator) fromJWT(ctx context.Context, token string) (knowledge.Claims, error) {
	cfg := a.cfg
	if a.remote == nil && cfg.Secret == "" {
		return knowledge.Claims{}, unauthorized("this instance takes no tokens (auth.jwt is not configured): use an API key")
	}
	claims, err := checkForm(token, time.Now())
	if err != nil {
		return knowledge.Claims{}, unauthorized("this token is not valid: it must be a signed JWT without critical extensions, with the times exp, nbf and iat as numbers and not expired, and with texts and lists where its claims need them").WithCause(err)
	}
	if a.remote != nil {
		return a.fromRemote(ctx, token, claims)
	}
	options := []jwt.ParserOption{
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithExpirationRequired(),
		jwt.WithLeeway(jwtLeeway), jwt.WithStrictDecoding(),
	}
	if cfg.Issuer != "" {
		options = append(options, jwt.WithIssuer(cfg.Issuer))
	}
	if cfg.Audience != "" {
		options = append(options, jwt.WithAudience(cfg.Audience))
	}
	_, err = jwt.Parse(token, func(*jwt.Token) (any, error) { return []byte(cfg.Secret), nil }, options...)
	if err != nil {
		return knowledge.Claims{}, unauthorized("this token is not valid: it must be signed with HS256 and this instance's secret, not be expired, and have the configured issuer and audience").WithCause(err)
	}
	return a.fromClaims(ctx, claims)
}

// fromClaims checks the claims of a token whose signature is valid.
func (a *Authenticator) fromClaims(ctx context.Context, claims tokenClaims) (knowledge.Claims, error) {
	if claims.Subject == "" || (Acting{User: claims.Subject}).check() != nil {
		return knowledge.Claims{}, unauthorized("this token names no user: it needs a claim sub")
	}
	exists, err := a.store.WorkspaceExists(ctx, claims.Workspace)
	if err != nil {
		return knowledge.Claims{}, fmt.Errorf("look up workspace: %w", err)
	}
	if !exists {
		return knowledge.Claims{}, unauthorized("this token is for a workspace that does not exist here: it needs a claim workspace")
	}
	return a.ofPerson(ctx, claims)
}
