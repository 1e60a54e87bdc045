package sharepoint

import (
	"context"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// The application permissions of Graph. Each of the first may read files.
const roleFullControl = "Sites.FullControl.All"

func readingRoles() []string {
	return []string{"Sites.Read.All", "Files.Read.All", "Files.ReadWrite.All", "Sites.ReadWrite.All", "Sites.Manage.All", roleFullControl, "Sites.Selected"}
}

// granted is a token for one resource.
type granted struct {
	text string
	ends time.Time
}

// bearer returns a token for a resource, a new one if it ends soon.
func (c *client) bearer(ctx context.Context, resource string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	if t := c.tokens[resource]; now.Before(t.ends) {
		return t.text, nil
	}
	address := c.login + "/" + url.PathEscape(c.tenant) + "/oauth2/v2.0/token"
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {c.clientID}, "scope": {resource + "/.default"}}
	if err := c.secret.addTo(form, c.clientID, address); err != nil {
		return "", err
	}
	text, ends, err := source.TokenRequest{
		Address: address, Form: form, Subject: "tenant", Name: c.tenant,
		Refused: func(body io.Reader) error {
			return knowledge.Errorf(knowledge.CodeForbidden, "Microsoft Entra does not accept the application %s: %s", c.clientID, reasonOf(body))
		},
	}.Fetch(ctx, c.http)
	if err == nil {
		c.tokens[resource] = granted{text, ends}
	}
	return text, err
}

// forget drops a token that was refused.
func (c *client) forget(resource, token string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tokens[resource].text == token {
		delete(c.tokens, resource)
	}
}

// reasonOf returns what an administrator has to change, from the numbers that Entra states.
func reasonOf(body io.Reader) string {
	var stated struct {
		Codes []int `json:"error_codes"`
	}
	_ = source.DecodeJSON(body, &stated) // without numbers the reason is a general one
	for code, reason := range map[int]string{
		7000222: "its client secret has expired; make another one, and give it to the connection",
		7000215: "its client secret is wrong; the secret is the value, and not the id, that Entra shows once",
		700016:  "the tenant has no such application; check options.client_id and options.tenant",
		90002:   "there is no such tenant; check options.tenant",
		700027:  "its certificate is not the one of the connection, or has expired; upload it at the application",
	} {
		if slices.Contains(stated.Codes, code) {
			return reason
		}
	}
	return "check options.tenant, options.client_id, and that the secret of the connection has not expired"
}

// rolesOf returns the application permissions that a token has. They are read, and not
// verified: only Graph decides by them.
func rolesOf(token string) []string {
	var claims struct {
		jwt.RegisteredClaims
		Roles []string `json:"roles"`
	}
	if _, _, err := jwt.NewParser().ParseUnverified(token, &claims); err != nil {
		return nil
	}
	return claims.Roles
}

// require refuses an application that lacks permissions of Graph, with what to ask an
// administrator for: of each list it needs one, and asks for the first.
func (c *client) require(ctx context.Context, purpose string, lists ...[]string) error {
	token, err := c.bearer(ctx, c.resource)
	if err != nil {
		return err
	}
	has := rolesOf(token)
	var missing []string
	for _, roles := range lists {
		if !slices.ContainsFunc(roles, func(role string) bool { return slices.Contains(has, role) }) {
			missing = append(missing, roles[0])
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return knowledge.Errorf(knowledge.CodeForbidden, "the application may not %s. Send this to an administrator of Microsoft Entra: please grant the application %s "+
		"the application permission %s of Microsoft Graph, with admin consent", purpose, c.clientID, strings.Join(missing, ", "))
}
