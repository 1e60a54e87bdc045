package access_test

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func TestSignInWithAnIdentityProvider(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	i := open(t, access.Config{OIDC: p.config()})
	cookie, page, err := i.FinishSignIn(t.Context(), p.begin(t, i))
	if err != nil || page != "/documents" {
		t.Fatalf("page %q, %v", page, err)
	}
	credentials := access.Credentials{Session: cookie}
	got := i.principal(t, credentials)
	if got.User() != "ann" || got.Workspace() != "default" || got.KeyID() != "" || !got.May(knowledge.QuestionsAsk) || got.May(knowledge.DocumentsWrite) || !slices.Contains(got.Tokens(), "g:keepers") {
		t.Errorf("claims %+v", got.Claims())
	}
	view, err := i.Session(t.Context(), credentials)
	if err != nil || view.User != "ann" || !slices.Equal(view.Roles, []string{"reader"}) {
		t.Errorf("the session is %+v, %v", view, err)
	}
	if _, err := i.As(t.Context(), got, access.Acting{User: "bob"}); !knowledge.IsCode(err, knowledge.CodeForbidden) {
		t.Errorf("she acts for another user: %v", err)
	}
	sessions, _, err := i.store.SessionsOf(t.Context(), got, store.SessionQuery{})
	if err != nil || len(sessions) != 1 || sessions[0].User != "ann" || sessions[0].KeyID != "" {
		t.Errorf("her sessions are %+v, %v", sessions, err)
	}
	if address, err := i.SignOut(t.Context(), cookie, "https://cairn.example.com/"); err != nil || address != "" {
		t.Fatalf("signing out leads to %q, %v", address, err)
	}
	_, err = i.Authenticate(t.Context(), credentials)
	wantCode(t, err, knowledge.CodeUnauthorized)
}

// forged returns what signs claims with a method and a key, in place of the identity provider.
func forged(t *testing.T, method jwt.SigningMethod, kid string, key any) func(jwt.MapClaims) any {
	return func(claims jwt.MapClaims) any {
		token := jwt.NewWithClaims(method, claims)
		token.Header["kid"] = kid
		text, err := token.SignedString(key)
		if err != nil {
			t.Error(err)
		}
		return text
	}
}

// TestHostileSignIns sends what an attacker would. Each time the same identity provider signs in
// before the attack.
func TestHostileSignIns(t *testing.T) {
	t.Parallel()
	set := func(name string, value any) func(*provider) {
		return func(p *provider) {
			p.claims = func(c jwt.MapClaims) {
				if c[name] = value; value == nil {
					delete(c, name)
				}
			}
		}
	}
	ago := func(d time.Duration) int64 { return time.Now().Add(-d).Unix() }
	const unauthorized = knowledge.CodeUnauthorized
	for name, c := range map[string]struct {
		attack func(p *provider)
		answer func(a *access.SignInAnswer)
		config func(c *access.OIDC)
		want   knowledge.Code
	}{
		"alg none": {attack: func(p *provider) { p.sign = forged(t, jwt.SigningMethodNone, "one", jwt.UnsafeAllowNoneSignatureType) }, want: unauthorized},
		"HS256 with the public key": {attack: func(p *provider) {
			public, err := x509.MarshalPKIXPublicKey(&p.key.PublicKey)
			if err != nil {
				t.Error(err)
			}
			p.sign = forged(t, jwt.SigningMethodHS256, "one", pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}))
		}, want: unauthorized},
		"HS256 with the secret of the client": {attack: func(p *provider) { p.sign = forged(t, jwt.SigningMethodHS256, "one", []byte(clientSecret)) }, want: unauthorized},
		"the key of somebody else":            {attack: func(p *provider) { p.sign = forged(t, jwt.SigningMethodRS256, "one", newRSA(t)) }, want: unauthorized},
		"a key that is in no set":             {attack: func(p *provider) { p.sign = forged(t, jwt.SigningMethodRS256, "two", newRSA(t)) }, want: unauthorized},
		"another issuer in the token":         {attack: set("iss", "https://evil.example.com"), want: unauthorized},
		"another issuer in the answer":        {answer: func(a *access.SignInAnswer) { a.Issuer = "https://evil.example.com" }, want: unauthorized},
		"another audience":                    {attack: set("aud", "somebody else"), want: unauthorized},
		"no audience":                         {attack: set("aud", nil), want: unauthorized},
		"another authorised party":            {attack: set("azp", "somebody else"), want: unauthorized},
		"several audiences without a party":   {attack: set("aud", []string{"cairn", "somebody else"}), want: unauthorized},
		"expired":                             {attack: set("exp", ago(time.Minute)), want: unauthorized},
		"without an end":                      {attack: set("exp", nil), want: unauthorized},
		"issued in the future":                {attack: set("iat", ago(-time.Minute)), want: unauthorized},
		"not valid yet":                       {attack: set("nbf", ago(-time.Minute)), want: unauthorized},
		"another nonce":                       {attack: set("nonce", "that of another sign-in"), want: unauthorized},
		"no nonce":                            {attack: set("nonce", nil), want: unauthorized},
		"a token that is not of this answer":  {attack: set("at_hash", "AAAAAAAAAAAAAAAAAAAAAA"), want: unauthorized},
		"no user":                             {attack: set("sub", ""), want: unauthorized},
		"no token":                            {attack: func(p *provider) { p.sign = func(jwt.MapClaims) any { return nil } }, want: unauthorized},
		"a code that is not known":            {answer: func(a *access.SignInAnswer) { a.Code = "guessed" }, want: unauthorized},
		"no code":                             {answer: func(a *access.SignInAnswer) { a.Code, a.Error = "", "access_denied" }, want: unauthorized},
		"a state that is not known":           {answer: func(a *access.SignInAnswer) { a.State = "guessed" }, want: unauthorized},
		"another browser":                     {answer: func(a *access.SignInAnswer) { a.Browser = "another" }, want: unauthorized},
		"no cookie":                           {answer: func(a *access.SignInAnswer) { a.Browser = "" }, want: unauthorized},
		"no role":                             {attack: set("roles", []string{"of another system"}), want: knowledge.CodeForbidden},
		"the identity provider is down":       {attack: func(p *provider) { p.refuses = http.StatusBadGateway }, want: knowledge.CodeUnavailable},
		"a mail address that is not verified": {attack: set("email_verified", false), config: func(c *access.OIDC) { c.Claims.User = "email" }, want: unauthorized},
		"a workspace that is not listed": {attack: set("tenant", "default"), config: func(c *access.OIDC) {
			c.Claims.Workspace, c.Workspaces = "tenant", []string{"other"}
		}, want: unauthorized},
		"a workspace that is not there": {attack: set("tenant", "unknown"), config: func(c *access.OIDC) { c.Claims.Workspace = "tenant" }, want: unauthorized},
		"no workspace":                  {attack: set("tenant", nil), config: func(c *access.OIDC) { c.Claims.Workspace = "tenant" }, want: unauthorized},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			p := newProvider(t)
			cfg := p.config()
			if c.config != nil {
				c.config(&cfg)
			}
			i := open(t, access.Config{OIDC: cfg})
			if _, _, err := i.FinishSignIn(t.Context(), p.begin(t, i)); err != nil {
				t.Fatalf("before the attack: %v", err)
			}
			answer := p.begin(t, i)
			if c.attack != nil {
				c.attack(p)
			}
			if c.answer != nil {
				c.answer(&answer)
			}
			cookie, _, err := i.FinishSignIn(t.Context(), answer)
			if wantCode(t, err, c.want); cookie != "" {
				t.Error("it has a session")
			}
		})
	}
}

func TestASignInIsFinishedOnce(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	i := open(t, access.Config{OIDC: p.config()})
	answer := p.begin(t, i)
	stolen := answer
	stolen.Browser = "another"
	_, _, err := i.FinishSignIn(t.Context(), stolen)
	wantCode(t, err, knowledge.CodeUnauthorized)
	answer = p.begin(t, i)
	if _, _, err := i.FinishSignIn(t.Context(), answer); err != nil {
		t.Fatal(err)
	}
	_, _, err = i.FinishSignIn(t.Context(), answer)
	wantCode(t, err, knowledge.CodeUnauthorized)
}

// TestKeysAndClocksOfAnIdentityProvider rotates the keys between two sign-ins, and has a clock
// that is ten seconds wrong.
func TestKeysAndClocksOfAnIdentityProvider(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	i := open(t, access.Config{OIDC: p.config()})
	signs := func(what string) {
		t.Helper()
		if _, _, err := i.FinishSignIn(t.Context(), p.begin(t, i)); err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	signs("the first key")
	p.key, p.kid = newRSA(t), "two"
	p.set.keys.Store(&map[string]*rsa.PrivateKey{"two": p.key})
	signs("the second key")
	p.claims = func(c jwt.MapClaims) {
		c["exp"], c["iat"] = time.Now().Add(-10*time.Second).Unix(), time.Now().Add(-time.Minute).Unix()
	}
	signs("a clock that is behind")
	p.claims = func(c jwt.MapClaims) {
		c["iat"], c["nbf"] = time.Now().Add(10*time.Second).Unix(), time.Now().Add(10*time.Second).Unix()
	}
	signs("a clock that is ahead")
}

func TestADocumentOfAnotherIssuer(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.issuer = "https://evil.example.com"
	i := open(t, access.Config{OIDC: p.config()})
	_, _, err := i.BeginSignIn(t.Context(), "", "https://cairn.example.com/auth/callback", "/")
	wantCode(t, err, knowledge.CodeUnavailable)
	p.issuer = ""
	p.begin(t, i)
}

func TestUserInfo(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.userInfo = map[string]any{"sub": "ann", "realm_access": map[string]any{"roles": []string{"editor"}}, "workspace": "other"}
	cfg := p.config()
	cfg.Claims.Roles = "realm_access.roles"
	i := open(t, access.Config{OIDC: cfg})
	cookie, _, err := i.FinishSignIn(t.Context(), p.begin(t, i))
	if err != nil {
		t.Fatal(err)
	}
	if got := i.principal(t, access.Credentials{Session: cookie}); !got.May(knowledge.DocumentsWrite) || got.Workspace() != "default" {
		t.Errorf("claims %+v", got.Claims())
	}
	p.userInfo["sub"] = "bob"
	_, _, err = i.FinishSignIn(t.Context(), p.begin(t, i))
	wantCode(t, err, knowledge.CodeUnauthorized)
}

// TestASessionEndsWithItsMember signs members in, and then ends what let them in.
func TestASessionEndsWithItsMember(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	i := open(t, access.Config{OIDC: p.config()})
	admin := i.administrator(t)
	provisioned, err := i.store.AddProvisionedUser(t.Context(), admin, store.ProvisionedUser{ID: "1", Name: "Bob@Halden.example", ExternalID: "00u1", Active: true, Attributes: "{}"}, nil, "reader")
	if err != nil {
		t.Fatal(err)
	}
	i.member(t, store.Member{Name: "cleo", Roles: []string{"editor"}})
	cookies := map[string]string{}
	for _, user := range []string{"00u1", "cleo", "ann"} {
		p.claims = func(c jwt.MapClaims) { c["sub"] = user }
		if cookies[user], _, err = i.FinishSignIn(t.Context(), p.begin(t, i)); err != nil {
			t.Fatalf("%s: %v", user, err)
		}
	}
	if got := i.principal(t, access.Credentials{Session: cookies["00u1"]}); got.User() != "Bob@Halden.example" || slices.Contains(got.Tokens(), "g:keepers") {
		t.Errorf("the provisioned user has the claims %+v", got.Claims())
	}
	if _, err := i.store.ChangeProvisionedUser(t.Context(), admin, provisioned.ID, func(u *store.ProvisionedUser) ([]string, error) { u.Active = false; return nil, nil }); err != nil {
		t.Fatal(err)
	}
	if err := i.store.RemoveMember(t.Context(), admin, "cleo"); err != nil {
		t.Fatal(err)
	}
	for _, user := range []string{"00u1", "cleo"} {
		_, err := i.Authenticate(t.Context(), access.Credentials{Session: cookies[user]})
		wantCode(t, err, knowledge.CodeUnauthorized)
	}
	i.principal(t, access.Credentials{Session: cookies["ann"]})
	within2Seconds(t, func() error {
		p.claims = func(c jwt.MapClaims) { c["sub"] = "00u1" }
		if _, _, err := i.FinishSignIn(t.Context(), p.begin(t, i)); !knowledge.IsCode(err, knowledge.CodeForbidden) {
			return fmt.Errorf("the deactivated user signs in: %w", errors.Join(err, errors.New("too late")))
		}
		return nil
	})
}

func TestClearanceOfASignIn(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	cfg := p.config()
	cfg.Claims.Clearance = "clearance"
	i := open(t, access.Config{OIDC: cfg})
	for clearance, want := range map[string]string{"": "internal", "confidential": "confidential", "public": "public", "none of them": "internal"} {
		p.claims = func(c jwt.MapClaims) {
			if clearance != "" {
				c["clearance"] = clearance
			}
		}
		cookie, _, err := i.FinishSignIn(t.Context(), p.begin(t, i))
		if err != nil {
			t.Fatal(err)
		}
		if got := i.principal(t, access.Credentials{Session: cookie}).Clearance(); got != want {
			t.Errorf("the claim %q gives the clearance %s, want %s", clearance, got, want)
		}
	}
}
