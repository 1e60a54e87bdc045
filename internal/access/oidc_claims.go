package access

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

// idClaims are the claims of an ID token whose signature is valid.
type idClaims map[string]any

// idTokenForm returns the claims of an ID token whose form is right, as checkForm does for
// other tokens. It does not check the signature.
func idTokenForm(token string, now time.Time) (idClaims, error) {
	payload, err := payloadOf(token, now)
	if err != nil {
		return nil, err
	}
	claims := make(idClaims, len(payload))
	for name, raw := range payload {
		var value any
		if err := json.Unmarshal(raw, &value); err != nil {
			return nil, fmt.Errorf("claim %s: %w", name, err)
		}
		claims[name] = value
	}
	return claims, nil
}

// at returns the claim of a name. A name with dots is a path, as realm_access.roles, unless a
// claim has the whole name.
func (c idClaims) at(name string) any {
	if value, there := c[name]; there {
		return value
	}
	var value any = map[string]any(c)
	for part := range strings.SplitSeq(name, ".") {
		object, ok := value.(map[string]any)
		if !ok {
			return nil
		}
		value = object[part]
	}
	return value
}

// text returns the claim of a name if it is a text, "" for no name.
func (c idClaims) text(name string) string {
	if name == "" {
		return ""
	}
	text, _ := c.at(name).(string)
	return text
}

// texts returns the texts of a claim, which is a list or one text.
func (c idClaims) texts(name string) []string {
	if name == "" {
		return nil
	}
	var list []string
	switch value := c.at(name).(type) {
	case string:
		list = strings.Fields(value)
	case []any:
		for _, one := range value {
			if text, ok := one.(string); ok && text != "" && !slices.Contains(list, text) {
				list = append(list, text)
			}
		}
	}
	return list
}

// within reports whether an ID token has all claims that are configured.
func (n OIDCClaims) within(claims idClaims) bool {
	for _, name := range []string{n.User, n.Groups, n.Roles, n.Workspace, n.Clearance} {
		if name != "" && claims.at(name) == nil {
			return false
		}
	}
	return true
}

// personOf returns what claims say of a person, and its workspace.
func (i *identityProvider) personOf(claims idClaims) (person, string, error) {
	names := i.cfg.Claims
	p := person{Name: claims.text(names.User), Roles: claims.texts(names.Roles), Groups: claims.texts(names.Groups), Clearance: claims.text(names.Clearance)}
	if verified, there := claims["email_verified"]; names.User == "email" && there && verified != true && verified != "true" {
		return p, "", refusedSignIn("the identity provider has not verified the mail address of this user")
	}
	if p.Name == "" || (Acting{User: p.Name}).check() != nil {
		return p, "", refusedSignIn("the identity provider does not name the user: it has no claim " + names.User)
	}
	if names.Workspace == "" {
		return p, i.cfg.Workspace, nil
	}
	workspace := claims.text(names.Workspace)
	if workspace == "" || len(i.cfg.Workspaces) > 0 && !slices.Contains(i.cfg.Workspaces, workspace) {
		return p, "", refusedSignIn("the identity provider names no workspace of this instance for this user")
	}
	return p, workspace, nil
}

func asRetrieveError(err error, target **oauth2.RetrieveError) bool { return errors.As(err, target) }
