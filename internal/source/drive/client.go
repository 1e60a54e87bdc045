package drive

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// The addresses of Google.
const (
	googleAPI   = "https://www.googleapis.com"
	googleToken = "https://oauth2.googleapis.com/token"
	scope       = "https://www.googleapis.com/auth/drive.readonly"
)

// tokenLife is how long a token is asked for.
const tokenLife = time.Hour

// account is the file of a service account.
type account struct {
	Type  string `json:"type"`
	Email string `json:"client_email"`
	Key   string `json:"private_key"`
	KeyID string `json:"private_key_id"`
}

// readAccount reads the file of a service account.
func readAccount(credentials string) (account, error) {
	var a account
	if err := json.Unmarshal([]byte(credentials), &a); err != nil || a.Type != "service_account" || a.Email == "" || a.Key == "" {
		return a, knowledge.Invalid("body.secret", "must be the JSON file of a key of a service account of Google")
	}
	if _, err := jwt.ParseRSAPrivateKeyFromPEM([]byte(a.Key)); err != nil {
		return a, knowledge.Invalid("body.secret", "has a private_key that is none: download the key of the service account again")
	}
	return a, nil
}

// client speaks to Drive as a service account.
type client struct {
	http      *http.Client
	api       string
	directory string
	tokens    string
	subject   string
	account   account

	mu      sync.Mutex
	granted map[string]granted // by scope
}

// granted is the answer to a request for a token.
type granted struct {
	token   string
	ends    time.Time
	refused error // it was not delegated: a process does not ask for it again
}

// bearer returns a token for a scope, a new one if it ends soon.
func (c *client) bearer(ctx context.Context, scope string) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if g := c.granted[scope]; g.refused != nil || time.Now().Before(g.ends) {
		return g.token, g.refused
	}
	var g granted
	var err error
	g.token, g.ends, err = c.ask(ctx, scope)
	if knowledge.IsCode(err, knowledge.CodeForbidden) {
		g.refused = err
	}
	if err == nil || g.refused != nil {
		c.granted[scope] = g
	}
	return g.token, err
}

// ask asks for a token for a scope.
func (c *client) ask(ctx context.Context, scope string) (token string, ends time.Time, err error) {
	now := time.Now()
	key, err := jwt.ParseRSAPrivateKeyFromPEM([]byte(c.account.Key))
	if err != nil {
		return "", ends, knowledge.Invalid("body.secret", "has a private_key that is none")
	}
	claims := jwt.MapClaims{"iss": c.account.Email, "scope": scope, "aud": googleToken, "iat": now.Unix(), "exp": now.Add(tokenLife).Unix()}
	if c.subject != "" {
		claims["sub"] = c.subject
	}
	t := jwt.NewWithClaims(jwt.SigningMethodRS256, claims)
	t.Header["kid"] = c.account.KeyID
	assertion, err := t.SignedString(key)
	if err != nil {
		return "", ends, knowledge.Errorf(knowledge.CodeInvalid, "the private key of the service account does not sign").WithCause(err)
	}
	return source.TokenRequest{
		Address: c.tokens, Subject: "service account", Name: c.account.Email,
		Form: url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {assertion}},
		Refused: func(io.Reader) error {
			return knowledge.Errorf(knowledge.CodeForbidden, "Google does not accept the service account: check that its key is not revoked and, with options.subject, that its client id has the scope %s by domain-wide delegation in the admin console", scope)
		},
	}.Fetch(ctx, c.http)
}

// get asks for a resource, and reads the answer into a value.
func (c *client) get(ctx context.Context, path string, query url.Values, into any) error {
	return source.ReadJSON(ctx, func() (*http.Response, error) { return c.send(ctx, path, query) }, func(answer *http.Response) error { return refused(answer, path) }, into)
}

func (c *client) send(ctx context.Context, path string, query url.Values) (*http.Response, error) {
	query.Set("supportsAllDrives", "true")
	return c.request(ctx, scope, c.api+"/drive/v3/"+path+"?"+query.Encode())
}

// request asks for an address with a token for a scope.
func (c *client) request(ctx context.Context, scope, address string) (*http.Response, error) {
	token, err := c.bearer(ctx, scope)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, knowledge.Errorf(knowledge.CodeInvalid, "the address of Drive is not valid").WithCause(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	answer, err := c.http.Do(request)
	if err != nil {
		return nil, source.FromExchange(err)
	}
	return answer, nil
}

// open opens the bytes of a resource. The caller closes the body.
func (c *client) open(ctx context.Context, path string, query url.Values) (*http.Response, *source.Body, error) {
	return source.OpenBody(ctx, func(ctx context.Context) (*http.Response, error) { return c.send(ctx, path, query) }, func(answer *http.Response) error { return refused(answer, path) })
}

// errToken is the cause of the error for a token that is refused.
var errToken = errors.New("the token was not accepted")

// refused returns the error for an answer that is none.
func refused(answer *http.Response, path string) error {
	switch answer.StatusCode {
	case http.StatusGone:
		return source.ErrExpired
	case http.StatusUnauthorized:
		return source.Unavailable(errToken)
	case http.StatusForbidden:
		switch reason := reasonOf(answer); {
		case isLimit(reason): // for longer than a request waits
			return source.Throttled(source.RetryAfter(answer.Header))
		case reason == "exportSizeLimitExceeded":
			return knowledge.Errorf(knowledge.CodeTooLarge, "Google exports documents up to 10 MB only, and this one is larger")
		}
		return knowledge.Errorf(knowledge.CodeForbidden, "Google Drive refused the request: enable the Drive API in the project of the service account, and make the account a viewer of the drive or folder")
	case http.StatusNotFound:
		return knowledge.Errorf(knowledge.CodeNotFound, "Google Drive does not show this to the service account: check the scope of the sync, and make the account a viewer")
	}
	return source.FromStatus(answer.StatusCode, answer.Header, "resource", path)
}

// reasonOf returns the reason that Google states in an error, and puts the body back.
func reasonOf(answer *http.Response) string {
	data, err := io.ReadAll(io.LimitReader(answer.Body, 64<<10))
	answer.Body = struct {
		io.Reader
		io.Closer
	}{strings.NewReader(string(data)), answer.Body}
	var stated struct {
		Error struct {
			Errors []struct {
				Reason string `json:"reason"`
			} `json:"errors"`
		} `json:"error"`
	}
	if err != nil || json.Unmarshal(data, &stated) != nil || len(stated.Error.Errors) == 0 {
		return ""
	}
	return stated.Error.Errors[0].Reason
}

// Slow reports whether Google asks for fewer requests: it says so by 429, and by 403 with a
// reason.
func Slow(answer *http.Response) (time.Duration, bool) {
	switch answer.StatusCode {
	case http.StatusTooManyRequests:
		return source.RetryAfter(answer.Header), true
	case http.StatusForbidden:
		if isLimit(reasonOf(answer)) {
			return source.RetryAfter(answer.Header), true
		}
	case http.StatusServiceUnavailable:
		after := source.RetryAfter(answer.Header)
		return after, after > 0
	}
	return 0, false
}

// isLimit reports whether a reason asks for fewer requests.
func isLimit(reason string) bool {
	return slices.Contains([]string{"userRateLimitExceeded", "rateLimitExceeded", "sharingRateLimitExceeded", "dailyLimitExceeded", "quotaExceeded"}, reason)
}
