package access_test

import (
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/cairn-rag/cairn/internal/access"
)

const clientSecret = "the secret of the client, which is long"

// provider is an identity provider with keys of its own, which does what a test asks of it.
type provider struct {
	*httptest.Server
	set       *keySet
	key       *rsa.PrivateKey // that signs
	kid       string
	issuer    string                         // that its document names; "" = its own
	claims    func(jwt.MapClaims)            // changes those of the ID token
	sign      func(claims jwt.MapClaims) any // the id_token; nil = signed with key
	userInfo  map[string]any                 // nil = there is none
	endAt     any                            // end_session_endpoint of its document; nil = there is none
	refuses   int                            // the status of the token endpoint
	nonce     string
	challenge string
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{set: &keySet{}, key: newRSA(t), kid: "one"}
	p.set.keys.Store(&map[string]*rsa.PrivateKey{p.kid: p.key})
	mux := http.NewServeMux()
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		document := map[string]any{
			"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token", "jwks_uri": p.URL + "/keys",
			"id_token_signing_alg_values_supported": []string{"RS256", "HS256", "none"},
		}
		if p.issuer != "" {
			document["issuer"] = p.issuer
		}
		if p.userInfo != nil {
			document["userinfo_endpoint"] = p.URL + "/userinfo"
		}
		if p.endAt != nil {
			document["end_session_endpoint"] = p.endAt
		}
		_ = json.NewEncoder(w).Encode(document)
	})
	mux.Handle("/keys", p.set)
	mux.HandleFunc("/token", p.token)
	mux.HandleFunc("/userinfo", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(p.userInfo)
	})
	return p
}

// token serves the token endpoint. It redeems codes with the verifier of the challenge alone.
func (p *provider) token(w http.ResponseWriter, r *http.Request) {
	sum := sha256.Sum256([]byte(r.FormValue("code_verifier")))
	status := p.refuses
	if base64.RawURLEncoding.EncodeToString(sum[:]) != p.challenge || r.FormValue("code") != "the code" {
		status = http.StatusBadRequest
	}
	w.Header().Set("Content-Type", "application/json")
	if status != 0 {
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": "invalid_grant"})
		return
	}
	claims := jwt.MapClaims{
		"iss": p.URL, "sub": "ann", "aud": "cairn", "nonce": p.nonce, "exp": time.Now().Add(time.Minute).Unix(), "iat": time.Now().Unix(),
		"roles": []string{"reader"}, "groups": []string{"keepers"}, "email": "ann@halden.example", "tenant": "other",
	}
	if p.claims != nil {
		p.claims(claims)
	}
	answer := map[string]any{"access_token": "access", "token_type": "Bearer", "expires_in": 60, "id_token": p.signed(claims)}
	_ = json.NewEncoder(w).Encode(answer)
}

func (p *provider) signed(claims jwt.MapClaims) any {
	if p.sign != nil {
		return p.sign(claims)
	}
	token := jwt.NewWithClaims(jwt.SigningMethodRS256, claims)
	token.Header["kid"] = p.kid
	text, err := token.SignedString(p.key)
	if err != nil {
		return err.Error()
	}
	return text
}

// config is the configuration of an instance whose identity provider it is.
func (p *provider) config() access.OIDC {
	return access.OIDC{
		Issuer: p.URL, ClientID: "cairn", ClientSecret: clientSecret, Scopes: []string{"openid"}, Workspace: "default",
		Claims: access.OIDCClaims{User: "sub", Roles: "roles", Groups: "groups"},
	}
}

// begin begins a sign-in, as a browser does that the identity provider has signed in, and
// returns what it brings back.
func (p *provider) begin(t *testing.T, i instance) access.SignInAnswer {
	t.Helper()
	address, browser, err := i.BeginSignIn(t.Context(), "", "https://cairn.example.com/auth/callback", "/documents")
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	if q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("client_id") != "cairn" || q.Get("redirect_uri") != "https://cairn.example.com/auth/callback" || len(q.Get("state")) < 20 || len(q.Get("nonce")) < 20 {
		t.Fatalf("the address is %s", address)
	}
	p.nonce, p.challenge = q.Get("nonce"), q.Get("code_challenge")
	return access.SignInAnswer{State: q.Get("state"), Code: "the code", Browser: browser}
}
