package imap

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// grant is a secret for which a service gives access tokens, each for some time.
type grant struct {
	Address      string `json:"token_url"`
	ClientID     string `json:"client_id"`
	ClientSecret string `json:"client_secret"`
	// RefreshToken is that of a user who has consented. Without it the application signs in
	// for itself.
	RefreshToken string `json:"refresh_token"`
	Scope        string `json:"scope"`
}

// readGrant reads a secret; there is false for an access token.
func readGrant(secret string) (g grant, there bool, err error) {
	if !strings.HasPrefix(strings.TrimSpace(secret), "{") {
		return g, false, nil
	}
	u := &url.URL{}
	if err = json.Unmarshal([]byte(secret), &g); err == nil {
		u, err = url.Parse(g.Address)
	}
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || g.ClientID == "" || g.RefreshToken == "" && g.ClientSecret == "" {
		return g, true, knowledge.Invalid("body.secret", "must be an access token, or JSON with token_url (an https address), client_id, and refresh_token, client_secret or both; scope where the service wants one")
	}
	return g, true, nil
}

// tokens are the access tokens of a grant, of which the last one is kept.
type tokens struct {
	grant
	http *http.Client

	mu   sync.Mutex
	text string
	ends time.Time
}

// errRenew asks for another try: the token that was refused is forgotten.
var errRenew = errors.New("a kept token was refused")

// bearer returns a token, a new one if it ends soon, and whether it was kept.
func (t *tokens) bearer(ctx context.Context) (text string, kept bool, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.text != "" && time.Now().Before(t.ends) {
		return t.text, true, nil
	}
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {t.ClientID}}
	if t.RefreshToken != "" {
		form.Set("grant_type", "refresh_token")
		form.Set("refresh_token", t.RefreshToken)
	}
	if t.ClientSecret != "" {
		form.Set("client_secret", t.ClientSecret)
	}
	if t.Scope != "" {
		form.Set("scope", t.Scope)
	}
	t.text, t.ends, err = source.TokenRequest{
		Address: t.Address, Form: form, Subject: "application", Name: t.ClientID,
		Refused: func(io.Reader) error {
			return knowledge.Errorf(knowledge.CodeForbidden, "the sign-in service does not accept the application %s: check in the secret of the connection that client_secret and refresh_token have not expired or been withdrawn, and that scope is one that it gives", t.ClientID)
		},
	}.Fetch(ctx, t.http)
	return t.text, false, err
}

// forget drops a token that was refused.
func (t *tokens) forget(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.text == text {
		t.text = ""
	}
}
