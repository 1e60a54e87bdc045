package access_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

const back = "https://cairn.example.com/"

// TestAddressesOfSigningOut has discovery documents that name addresses to which no browser may be
// sent, beside those that are right.
func TestAddressesOfSigningOut(t *testing.T) {
	t.Parallel()
	const parameters = "client_id=cairn&post_logout_redirect_uri=https%3A%2F%2Fcairn.example.com%2F"
	for endpoint, want := range map[string]string{
		"https://login.example.com/end":              "https://login.example.com/end?" + parameters,
		"https://login.example.com/end?tenant=7":     "https://login.example.com/end?" + parameters + "&tenant=7",
		"https://login.example.com/end?client_id=me": "https://login.example.com/end?" + parameters,
		"":                        "",
		"/end":                    "",
		"//login.example.com/end": "",
		"javascript:alert(1)":     "",
		"javascript://login.example.com/%0aalert(1)": "",
		"data:text/html,<script>alert(1)</script>":   "",
		"ftp://login.example.com/end":                "",
		"https:login.example.com":                    "",
		"https://:443/end":                           "",
		"https://cairn.example.com@evil.example/end": "",
		"https://login.example.com/end#token=x":      "",
		"https://login.example.com/\r\nLocation: x":  "",
	} {
		for _, scheme := range []string{"https", "http"} {
			cfg := access.OIDC{Issuer: scheme + "://login.example.com", ClientID: "cairn"}
			if got := access.SignOutAddress(cfg, endpoint, back); got != want {
				t.Errorf("%q of an issuer of %s leads to %q, want %q", endpoint, scheme, got, want)
			}
		}
	}
	for issuer, want := range map[string]string{"https://login.example.com": "", "http://login.example.com": "http://login.example.com/end?" + parameters} {
		if got := access.SignOutAddress(access.OIDC{Issuer: issuer, ClientID: "cairn"}, "http://login.example.com/end", back); got != want {
			t.Errorf("an address of http, of the issuer %s, leads to %q, want %q", issuer, got, want)
		}
	}
}

// TestSigningOutLeadsToTheProvider signs people out whose identity providers name an address for
// it, none, and what is no address. The session ends in any case.
func TestSigningOutLeadsToTheProvider(t *testing.T) {
	t.Parallel()
	for endpoint, want := range map[any]string{
		"https://login.example.com/end": "https://login.example.com/end?client_id=cairn&post_logout_redirect_uri=https%3A%2F%2Fcairn.example.com%2F",
		nil:                             "", 7: "", "javascript:alert(1)": "",
	} {
		p := newProvider(t)
		p.endAt = endpoint
		i := open(t, access.Config{OIDC: p.config()})
		cookie, _, err := i.FinishSignIn(t.Context(), p.begin(t, i))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := i.SignOut(t.Context(), cookie, back); err != nil || got != want {
			t.Errorf("%v leads to %q, %v; want %q", endpoint, got, err, want)
		}
		_, err = i.Authenticate(t.Context(), access.Credentials{Session: cookie})
		wantCode(t, err, knowledge.CodeUnauthorized)
	}
}

// TestOnlySessionsOfTheProviderEndThere signs a key and nobody out, and a person while the
// identity provider is away.
func TestOnlySessionsOfTheProviderEndThere(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.endAt = "https://login.example.com/end"
	i := open(t, access.Config{OIDC: p.config()})
	person, _, err := i.FinishSignIn(t.Context(), p.begin(t, i))
	if err != nil {
		t.Fatal(err)
	}
	key, err := i.SignIn(t.Context(), i.key(t, store.Key{Workspace: "default", Name: "k", Scopes: []knowledge.Scope{knowledge.ScopeRead}}))
	if err != nil {
		t.Fatal(err)
	}
	for cookie, leads := range map[string]bool{key: false, "nobody": false, person: true} {
		if got, err := i.SignOut(t.Context(), cookie, back); err != nil || strings.HasPrefix(got, "https://login.example.com/end?") != leads {
			t.Errorf("signing out leads to %q, %v", got, err)
		}
	}
	later, _, err := i.FinishSignIn(t.Context(), p.begin(t, i))
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	restarted := instance{access.New(access.Config{OIDC: p.config()}, i.store, []byte("signing secret")), i.store}
	if got, err := restarted.SignOut(t.Context(), later, back); err != nil || got != "" {
		t.Errorf("while the identity provider is away it leads to %q, %v", got, err)
	}
	_, err = restarted.Authenticate(t.Context(), access.Credentials{Session: later})
	wantCode(t, err, knowledge.CodeUnauthorized)
}
