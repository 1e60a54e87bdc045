package access_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

const jwtSecret = "a secret of at least thirty-two bytes"

// instance is an Authenticator over a real store with two workspaces.
type instance struct {
	*access.Authenticator
	store *store.Store
}

func open(t *testing.T, cfg access.Config) instance {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{URL: "sqlite://" + t.TempDir() + "/cairn.db"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, id := range []string{"default", "other"} {
		if err := s.CreateWorkspace(t.Context(), store.Workspace{ID: id, Name: id}); err != nil {
			t.Fatal(err)
		}
	}
	return instance{access.New(cfg, s, []byte("signing secret")), s}
}

// key stores a key and returns its plain text.
func (i instance) key(t *testing.T, k store.Key) string {
	t.Helper()
	plain, hash, prefix := access.NewKey()
	k.ID, k.Hash, k.Prefix = knowledge.NewID(), hash, prefix
	create := i.store.CreateKey
	if k.Instance {
		create = i.store.ReplaceInstanceKey
	}
	if err := create(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	return plain
}

func (i instance) principal(t *testing.T, c access.Credentials) knowledge.Principal {
	t.Helper()
	p, err := i.Authenticate(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func sign(t *testing.T, method jwt.SigningMethod, secret any, claims jwt.MapClaims) string {
	t.Helper()
	token, err := jwt.NewWithClaims(method, claims).SignedString(secret)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// valid returns the claims of a token that is accepted.
func valid(change ...func(jwt.MapClaims)) jwt.MapClaims {
	claims := jwt.MapClaims{
		"sub": "ann", "workspace": "default", "roles": []string{"editor"}, "groups": []string{"legal"},
		"iss": "issuer", "aud": "cairn", "exp": time.Now().Add(time.Hour).Unix(),
	}
	for _, c := range change {
		c(claims)
	}
	return claims
}

func wantCode(t *testing.T, err error, code knowledge.Code) {
	t.Helper()
	if !knowledge.IsCode(err, code) {
		t.Errorf("got error %v, want code %s", err, code)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	i := open(t, access.Config{})
	scopes := []knowledge.Scope{knowledge.ScopeRead}
	plain := i.key(t, store.Key{Workspace: "default", Project: "handbook", Scopes: scopes})

	t.Run("a_new_key_is_random_base62_and_found_by_its_hash", func(t *testing.T) {
		t.Parallel()
		one, hash, prefix := access.NewKey()
		two, _, _ := access.NewKey()
		if !regexp.MustCompile(`^cairn_[0-9A-Za-z]{43}$`).MatchString(one) || one == two {
			t.Errorf("keys %q and %q", one, two)
		}
		sum := sha256.Sum256([]byte(one))
		if hash != hex.EncodeToString(sum[:]) || hash != access.HashKey(one) {
			t.Errorf("hash of the key is %q", hash)
		}
		if !strings.HasPrefix(one, prefix) || len(prefix) != 12 {
			t.Errorf("prefix %q of key %q", prefix, one)
		}
	})
	t.Run("a_key_is_accepted_in_either_header", func(t *testing.T) {
		t.Parallel()
		for _, c := range []access.Credentials{{Key: plain}, {Bearer: plain}} {
			p := i.principal(t, c)
			if p.Workspace() != "default" || p.Project() != "handbook" || !p.Can(knowledge.ScopeRead) || p.Can(knowledge.ScopeWrite) || p.Instance() {
				t.Errorf("principal of the key: %+v", p)
			}
		}
	})
	t.Run("missing_and_wrong_credentials_are_unauthorized_and_not_repeated", func(t *testing.T) {
		t.Parallel()
		for _, c := range []access.Credentials{{}, {Key: "cairn_wrong-secret"}, {Bearer: "wrong-secret"}, {Bearer: plain[1:]}, {Key: plain + "x"}, {Key: access.HashKey(plain)}} {
			_, err := i.Authenticate(t.Context(), c)
			wantCode(t, err, knowledge.CodeUnauthorized)
			if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), plain[1:]) {
				t.Errorf("the error repeats the credential: %v", err)
			}
		}
	})
	t.Run("a_revoked_key_is_refused_at_once", func(t *testing.T) {
		t.Parallel()
		plain := i.key(t, store.Key{Workspace: "default", Scopes: []knowledge.Scope{knowledge.ScopeAdmin}})
		p := i.principal(t, access.Credentials{Key: plain})
		if err := i.store.RevokeKey(t.Context(), p, p.KeyID()); err != nil {
			t.Fatal(err)
		}
		_, err := i.Authenticate(t.Context(), access.Credentials{Key: plain})
		wantCode(t, err, knowledge.CodeUnauthorized)
	})
	t.Run("an_expired_key_is_refused", func(t *testing.T) {
		t.Parallel()
		plain := i.key(t, store.Key{Workspace: "default", Scopes: scopes, ExpiresAt: time.Now().Add(-time.Second)})
		_, err := i.Authenticate(t.Context(), access.Credentials{Key: plain})
		wantCode(t, err, knowledge.CodeUnauthorized)
	})
	t.Run("a_key_does_not_reach_another_workspace", func(t *testing.T) {
		t.Parallel()
		for _, workspace := range []string{"other", "missing"} {
			_, err := i.Authenticate(t.Context(), access.Credentials{Key: plain, Workspace: workspace})
			wantCode(t, err, knowledge.CodeNotFound)
			_, err = i.In(t.Context(), i.principal(t, access.Credentials{Key: plain}), workspace)
			wantCode(t, err, knowledge.CodeNotFound)
		}
		if p, err := i.In(t.Context(), i.principal(t, access.Credentials{Key: plain}), "default"); err != nil || p.Project() != "handbook" {
			t.Errorf("in its own workspace: %+v, %v", p, err)
		}
	})
	t.Run("the_zero_principal_has_no_workspace", func(t *testing.T) {
		t.Parallel()
		_, err := i.In(t.Context(), knowledge.Principal{}, "")
		wantCode(t, err, knowledge.CodeNotFound)
		_, err = i.As(t.Context(), knowledge.Principal{}, access.Acting{User: "ann"})
		wantCode(t, err, knowledge.CodeUnauthorized)
	})
}

func TestInstanceKey(t *testing.T) {
	t.Parallel()
	i := open(t, access.Config{})
	plain := i.key(t, store.Key{Workspace: "default", Scopes: []knowledge.Scope{knowledge.ScopeAdmin}, Instance: true})
	for header, want := range map[string]string{"": "default", "default": "default", "other": "other"} {
		p := i.principal(t, access.Credentials{Key: plain, Workspace: header})
		if p.Workspace() != want || !p.Instance() || !slices.Contains(p.Tokens(), "w:"+want) || len(p.Tokens()) != 1 {
			t.Errorf("header %q: workspace %q, tokens %v", header, p.Workspace(), p.Tokens())
		}
	}
	_, err := i.Authenticate(t.Context(), access.Credentials{Key: plain, Workspace: "missing"})
	wantCode(t, err, knowledge.CodeNotFound)
	p, err := i.In(t.Context(), i.principal(t, access.Credentials{Key: plain}), "other")
	if err != nil || p.Workspace() != "other" {
		t.Errorf("the administrator in another workspace: %q, %v", p.Workspace(), err)
	}
}

func TestTokens(t *testing.T) {
	t.Parallel()
	i := open(t, access.Config{Issuer: "issuer", Audience: "cairn", Secret: jwtSecret})
	hs256 := jwt.SigningMethodHS256

	t.Run("a_valid_token_sets_user_groups_and_scopes", func(t *testing.T) {
		t.Parallel()
		p := i.principal(t, access.Credentials{Bearer: sign(t, hs256, []byte(jwtSecret), valid())})
		if diff := cmp.Diff([]string{"w:default", "u:ann", "g:legal"}, p.Tokens()); diff != "" {
			t.Error(diff)
		}
		if !p.Can(knowledge.ScopeWrite) || p.Can(knowledge.ScopeAdmin) || p.Instance() || p.Owner() != "u:ann" {
			t.Errorf("principal %+v", p)
		}
	})
	for role, want := range map[string][3]bool{"reader": {true, false, false}, "editor": {true, true, false}, "admin": {true, true, true}} {
		t.Run("the_role_"+role+"_maps_to_its_scope", func(t *testing.T) {
			t.Parallel()
			p := i.principal(t, access.Credentials{Bearer: sign(t, hs256, []byte(jwtSecret), valid(func(c jwt.MapClaims) { c["roles"] = []string{"viewer", role} }))})
			got := [3]bool{p.Can(knowledge.ScopeRead), p.Can(knowledge.ScopeWrite), p.Can(knowledge.ScopeAdmin)}
			if got != want {
				t.Errorf("may read, write, administrate: %v, want %v", got, want)
			}
		})
	}
	refused := map[string]string{
		"another_secret":         sign(t, hs256, []byte("another secret of thirty-two bytes.."), valid()),
		"alg_none":               sign(t, jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, valid()),
		"another_algorithm":      sign(t, jwt.SigningMethodHS512, []byte(jwtSecret), valid()),
		"expired":                sign(t, hs256, []byte(jwtSecret), valid(func(c jwt.MapClaims) { c["exp"] = time.Now().Add(-time.Minute).Unix() })),
		"without_expiry":         sign(t, hs256, []byte(jwtSecret), valid(func(c jwt.MapClaims) { delete(c, "exp") })),
		"not_yet_valid":          sign(t, hs256, []byte(jwtSecret), valid(func(c jwt.MapClaims) { c["nbf"] = time.Now().Add(time.Hour).Unix() })),
		"another_issuer":         sign(t, hs256, []byte(jwtSecret), valid(func(c jwt.MapClaims) { c["iss"] = "somebody" })),
		"without_issuer":         sign(t, hs256, []byte(jwtSecret), valid(func(c jwt.MapClaims) { delete(c, "iss") })),
		"another_audience":       sign(t, hs256, []byte(jwtSecret), valid(func(c jwt.MapClaims) { c["aud"] = []string{"shop"} })),
		"without_subject":        sign(t, hs256, []byte(jwtSecret), valid(func(c jwt.MapClaims) { c["sub"] = "" })),
		"subject_with_a_NUL":     sign(t, hs256, []byte(jwtSecret), valid(func(c jwt.MapClaims) { c["sub"] = "ann\x00" })),
		"an_unknown_workspace":   sign(t, hs256, []byte(jwtSecret), valid(func(c jwt.MapClaims) { c["workspace"] = "missing" })),
		"without_workspace":      sign(t, hs256, []byte(jwtSecret), valid(func(c jwt.MapClaims) { delete(c, "workspace") })),
		"claims_of_a_wrong_type": sign(t, hs256, []byte(jwtSecret), valid(func(c jwt.MapClaims) { c["roles"] = "admin" })),
		"garbage":                "eyJhbGciOiJIUzI1NiJ9.e30.x",
	}
	for name, token := range refused {
		t.Run("a_token_is_refused_with_"+name, func(t *testing.T) {
			t.Parallel()
			_, err := i.Authenticate(t.Context(), access.Credentials{Bearer: token})
			wantCode(t, err, knowledge.CodeUnauthorized)
			if err != nil && (strings.Contains(err.Error(), token) || strings.Contains(err.Error(), jwtSecret)) {
				t.Errorf("the error repeats the credential: %v", err)
			}
		})
	}
	t.Run("claims_that_were_changed_break_the_signature", func(t *testing.T) {
		t.Parallel()
		parts := strings.Split(sign(t, hs256, []byte(jwtSecret), valid()), ".")
		body, err := json.Marshal(valid(func(c jwt.MapClaims) { c["roles"] = []string{"admin"} }))
		if err != nil {
			t.Fatal(err)
		}
		parts[1] = base64.RawURLEncoding.EncodeToString(body)
		_, err = i.Authenticate(t.Context(), access.Credentials{Bearer: strings.Join(parts, ".")})
		wantCode(t, err, knowledge.CodeUnauthorized)
	})
	t.Run("a_token_without_a_role_is_forbidden", func(t *testing.T) {
		t.Parallel()
		token := sign(t, hs256, []byte(jwtSecret), valid(func(c jwt.MapClaims) { c["roles"] = []string{"owner"} }))
		_, err := i.Authenticate(t.Context(), access.Credentials{Bearer: token})
		wantCode(t, err, knowledge.CodeForbidden)
	})
	t.Run("a_token_does_not_reach_another_workspace", func(t *testing.T) {
		t.Parallel()
		token := sign(t, hs256, []byte(jwtSecret), valid(func(c jwt.MapClaims) { c["roles"] = []string{"admin"} }))
		_, err := i.Authenticate(t.Context(), access.Credentials{Bearer: token, Workspace: "other"})
		wantCode(t, err, knowledge.CodeNotFound)
		_, err = i.In(t.Context(), i.principal(t, access.Credentials{Bearer: token}), "other")
		wantCode(t, err, knowledge.CodeNotFound)
	})
	t.Run("without_a_configured_secret_no_token_is_accepted", func(t *testing.T) {
		t.Parallel()
		none := open(t, access.Config{})
		for _, secret := range []string{jwtSecret, ""} {
			_, err := none.Authenticate(t.Context(), access.Credentials{Bearer: sign(t, hs256, []byte(secret), valid())})
			wantCode(t, err, knowledge.CodeUnauthorized)
		}
	})
}

func TestActing(t *testing.T) {
	t.Parallel()
	i := open(t, access.Config{Secret: jwtSecret})
	key := i.principal(t, access.Credentials{Key: i.key(t, store.Key{Workspace: "default", Scopes: []knowledge.Scope{knowledge.ScopeRead}})})
	token := i.principal(t, access.Credentials{Bearer: sign(t, jwt.SigningMethodHS256, []byte(jwtSecret), valid())})
	as := func(t *testing.T, p knowledge.Principal, acting access.Acting) knowledge.Principal {
		t.Helper()
		p, err := i.As(t.Context(), p, acting)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}

	t.Run("a_key_acts_for_any_user", func(t *testing.T) {
		t.Parallel()
		for want, acting := range map[string]access.Acting{"u:bob": {User: "bob"}, "x:42": {ExternalUser: "42"}} {
			p := as(t, key, acting)
			if !slices.Contains(p.Tokens(), want) || p.Owner() != want || p.Can(knowledge.ScopeWrite) {
				t.Errorf("acting %+v: tokens %v, owner %s", acting, p.Tokens(), p.Owner())
			}
		}
		if p := as(t, key, access.Acting{}); p.Owner() != key.Owner() {
			t.Errorf("acting for nobody changed the owner to %s", p.Owner())
		}
	})
	t.Run("a_token_acts_for_its_own_user_only", func(t *testing.T) {
		t.Parallel()
		if p := as(t, token, access.Acting{User: "ann"}); p.Owner() != "u:ann" {
			t.Errorf("owner %s", p.Owner())
		}
		for _, acting := range []access.Acting{{User: "bob"}, {ExternalUser: "42"}, {User: "ann", ExternalUser: "42"}} {
			_, err := i.As(t.Context(), token, acting)
			wantCode(t, err, knowledge.CodeForbidden)
		}
	})
	t.Run("a_session_counts_for_its_owner_only", func(t *testing.T) {
		t.Parallel()
		bob := as(t, key, access.Acting{User: "bob"})
		if _, err := i.store.EnsureConversation(t.Context(), bob, store.Conversation{ID: "talk"}); err != nil {
			t.Fatal(err)
		}
		p := as(t, key, access.Acting{User: "bob", Session: "talk"})
		if !slices.Contains(p.Tokens(), "s:talk") || p.ConversationID() != "talk" {
			t.Errorf("tokens %v", p.Tokens())
		}
		for _, acting := range []access.Acting{
			{User: "eve", Session: "talk"}, {ExternalUser: "bob", Session: "talk"}, {Session: "talk"}, {User: "bob", Session: "missing"},
		} {
			_, err := i.As(t.Context(), key, acting)
			wantCode(t, err, knowledge.CodeNotFound)
		}
		_, err := i.As(t.Context(), token, access.Acting{Session: "talk"})
		wantCode(t, err, knowledge.CodeNotFound)
	})
	t.Run("a_session_of_another_workspace_is_not_found", func(t *testing.T) {
		t.Parallel()
		admin := i.principal(t, access.Credentials{Key: i.key(t, store.Key{Workspace: "default", Scopes: []knowledge.Scope{knowledge.ScopeAdmin}, Instance: true})})
		there, err := i.In(t.Context(), admin, "other")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := i.store.EnsureConversation(t.Context(), there, store.Conversation{ID: "elsewhere"}); err != nil {
			t.Fatal(err)
		}
		_, err = i.As(t.Context(), admin, access.Acting{Session: "elsewhere"})
		wantCode(t, err, knowledge.CodeNotFound)
		p := as(t, there, access.Acting{Session: "elsewhere"})
		if p, err = i.In(t.Context(), p, "default"); err != nil || p.ConversationID() != "" {
			t.Errorf("the session is kept in another workspace: %q, %v", p.ConversationID(), err)
		}
	})
	t.Run("a_user_with_control_characters_is_invalid", func(t *testing.T) {
		t.Parallel()
		for _, name := range []string{"bob\x00", "bob\r\nx", "\xff", strings.Repeat("b", 257)} {
			for _, acting := range []access.Acting{{User: name}, {ExternalUser: name}} {
				_, err := i.As(t.Context(), key, acting)
				wantCode(t, err, knowledge.CodeInvalid)
			}
		}
	})
}
