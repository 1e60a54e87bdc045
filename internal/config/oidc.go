package config

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
)

// OIDC is the sign-in of browsers with an identity provider, by OpenID Connect.
type OIDC struct {
	// The address of the identity provider, as its discovery document names it in issuer.
	// Defaults to none, and then browsers sign in with keys alone.
	Issuer string `koanf:"issuer"`
	// The client that the identity provider knows Cairn by. Its redirect address is
	// public_url with /auth/callback behind it. Defaults to none; it is needed with an issuer.
	ClientID string `koanf:"client_id"`
	// The name of the environment variable that holds the secret of the client. Defaults to
	// none: a public client.
	ClientSecretEnv string `koanf:"client_secret_env"`
	// The scopes that Cairn requests of the identity provider. In the environment, with commas
	// between them. Defaults to openid, profile and email.
	Scopes []string `koanf:"scopes"`
	// The workspace of those who sign in, if auth.oidc.claims.workspace names no claim.
	// Defaults to default.
	Workspace string `koanf:"workspace"`
	// The workspaces that the claim may name. In the environment, with commas between them.
	// Defaults to all.
	Workspaces []string `koanf:"workspaces"`
	// The claims that are read of the ID token or, if it lacks one, of the user info.
	Claims OIDCClaims `koanf:"claims"`

	// ClientSecret is the value of the variable that ClientSecretEnv names.
	ClientSecret string `koanf:"-"`
}

// OIDCClaims names claims. A name with dots is a path, as realm_access.roles.
type OIDCClaims struct {
	// The claim that names the user: a member's name, or his externalId of SCIM. Defaults to
	// sub.
	User string `koanf:"user"`
	// The claim with the groups of the user. Users whom SCIM provisions have the groups of
	// SCIM instead. Defaults to none.
	Groups string `koanf:"groups"`
	// The claim with the roles of the user; those that the workspace does not have are
	// ignored. Defaults to none: the roles of the member.
	Roles string `koanf:"roles"`
	// The claim with the workspace of the user. Defaults to none.
	Workspace string `koanf:"workspace"`
	// The claim with the clearance of the user. Defaults to none.
	Clearance string `koanf:"clearance"`
}

func (o OIDC) withDefaults(env map[string]string) (OIDC, error) {
	o.Claims.User = or(o.Claims.User, "sub")
	o.Workspace = or(o.Workspace, "default")
	if len(o.Scopes) == 0 {
		o.Scopes = []string{"openid", "profile", "email"}
	}
	if o.ClientSecretEnv == "" {
		return o, nil
	}
	if o.ClientSecret = env[o.ClientSecretEnv]; o.ClientSecret == "" {
		return OIDC{}, fmt.Errorf("auth.oidc.client_secret_env names the environment variable %s, which is not set", o.ClientSecretEnv)
	}
	return o, nil
}

func (o OIDC) validate() error {
	if o.Issuer == "" {
		if o.ClientID != "" {
			return errors.New("auth.oidc has a client_id and no issuer")
		}
		return nil
	}
	var errs []error
	if u, err := url.Parse(o.Issuer); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		errs = append(errs, errors.New("auth.oidc.issuer: an http or https address without a query is needed"))
	}
	if o.ClientID == "" {
		errs = append(errs, errors.New("auth.oidc.client_id is needed with auth.oidc.issuer"))
	}
	if !slices.Contains(o.Scopes, "openid") {
		errs = append(errs, errors.New("auth.oidc.scopes: openid is needed"))
	}
	return errors.Join(errs...)
}
