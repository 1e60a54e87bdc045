package access_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// keySet serves the public parts of keys, by their ids.
type keySet struct {
	keys    atomic.Pointer[map[string]*rsa.PrivateKey]
	fetched atomic.Int32
}

func (s *keySet) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	s.fetched.Add(1)
	var list []map[string]string
	for id, key := range *s.keys.Load() {
		list = append(list, map[string]string{
			"kty": "RSA", "use": "sig", "alg": "RS256", "kid": id, "n": base64.RawURLEncoding.EncodeToString(key.N.Bytes()),
			"e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(key.E)).Bytes()),
		})
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"keys": list})
}

func newRSA(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestTokensOfAKeySet(t *testing.T) {
	t.Parallel()
	first, second := newRSA(t), newRSA(t)
	set := &keySet{}
	set.keys.Store(&map[string]*rsa.PrivateKey{"one": first})
	server := httptest.NewServer(set)
	t.Cleanup(server.Close)
	i := open(t, access.Config{Issuer: "issuer", Audience: "cairn", JWKSURL: server.URL})
	token := func(method jwt.SigningMethod, id string, key any, change ...func(jwt.MapClaims)) access.Credentials {
		unsigned := jwt.NewWithClaims(method, valid(change...))
		unsigned.Header["kid"] = id
		signed, err := unsigned.SignedString(key)
		if err != nil {
			t.Fatal(err)
		}
		return access.Credentials{Bearer: signed}
	}
	for range 2 {
		p := i.principal(t, token(jwt.SigningMethodRS256, "one", first))
		if !slices.Equal(p.Tokens(), []string{"w:default", "u:ann", "g:legal"}) || !p.Can(knowledge.ScopeWrite) {
			t.Errorf("tokens %v", p.Tokens())
		}
	}
	if set.fetched.Load() != 1 {
		t.Errorf("the key set was fetched %d times", set.fetched.Load())
	}
	public, err := x509.MarshalPKIXPublicKey(&first.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]access.Credentials{
		"of another key":        token(jwt.SigningMethodRS256, "one", second),
		"signed with HS256":     token(jwt.SigningMethodHS256, "one", public),
		"without a signature":   token(jwt.SigningMethodNone, "one", jwt.UnsafeAllowNoneSignatureType),
		"that has expired":      token(jwt.SigningMethodRS256, "one", first, func(c jwt.MapClaims) { c["exp"] = time.Now().Add(-time.Hour).Unix() }),
		"without an expiry":     token(jwt.SigningMethodRS256, "one", first, func(c jwt.MapClaims) { delete(c, "exp") }),
		"of another issuer":     token(jwt.SigningMethodRS256, "one", first, func(c jwt.MapClaims) { c["iss"] = "somebody" }),
		"for another audience":  token(jwt.SigningMethodRS256, "one", first, func(c jwt.MapClaims) { c["aud"] = "shop" }),
		"of a key that is new":  token(jwt.SigningMethodRS256, "two", second),
		"for another workspace": token(jwt.SigningMethodRS256, "one", first, func(c jwt.MapClaims) { c["workspace"] = "missing" }),
	} {
		if _, err := i.Authenticate(t.Context(), c); !knowledge.IsCode(err, knowledge.CodeUnauthorized) {
			t.Errorf("a token %s: %v", name, err)
		}
	}
	set.keys.Store(&map[string]*rsa.PrivateKey{"two": second}) // the provider has rotated its keys
	i.principal(t, token(jwt.SigningMethodRS256, "two", second))
	if _, err := i.Authenticate(t.Context(), token(jwt.SigningMethodRS256, "one", second)); !knowledge.IsCode(err, knowledge.CodeUnauthorized) {
		t.Errorf("a token that names another key: %v", err)
	}
}

func TestAKeySetThatCannotBeFetched(t *testing.T) {
	t.Parallel()
	key := newRSA(t)
	signed, err := jwt.NewWithClaims(jwt.SigningMethodRS256, valid()).SignedString(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, handler := range map[string]http.HandlerFunc{
		"because nothing listens":  nil,
		"because it fails":         func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"because it is no key set": func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) },
		"because it was moved":     func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) },
		"because it breaks off":    func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Length", "9") },
		"because it redirects badly": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "x://")
			w.WriteHeader(http.StatusFound)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(handler)
			if handler == nil {
				server.Close()
			} else {
				t.Cleanup(server.Close)
			}
			i := open(t, access.Config{Issuer: "issuer", Audience: "cairn", JWKSURL: server.URL})
			if _, err := i.Authenticate(t.Context(), access.Credentials{Bearer: signed}); !knowledge.IsCode(err, knowledge.CodeUnavailable) {
				t.Errorf("a good token: %v", err)
			}
			foreign, err := jwt.NewWithClaims(jwt.SigningMethodRS256, valid(func(c jwt.MapClaims) { c["iss"] = "somebody" })).SignedString(key)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := i.Authenticate(t.Context(), access.Credentials{Bearer: foreign}); err == nil {
				t.Error("a bad token is accepted")
			}
		})
	}
}
