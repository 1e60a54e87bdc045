package api_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/api"
	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// signIn signs in with a key, and returns the cookie.
func signIn(e *edge, key string) *http.Cookie {
	e.t.Helper()
	got := e.do("POST", "/auth/session", "", map[string]any{"key": key})
	got.want(200)
	cookie, err := http.ParseSetCookie(got.header.Get("Set-Cookie"))
	if err != nil {
		e.t.Fatal(err)
	}
	return cookie
}

func TestSignIn(t *testing.T) {
	t.Parallel()
	e := open(t)
	nobody := e.do("GET", "/auth/session", "", nil).want(200)
	if nobody["signedIn"] != false || nobody["user"] != nil || fmt.Sprint(nobody["methods"]) != "[key]" {
		t.Errorf("nobody is %v", nobody)
	}
	cookie := signIn(e, e.editor)
	if cookie.Name != "cairn_session" || !cookie.HttpOnly || cookie.SameSite != http.SameSiteLaxMode || cookie.Secure || cookie.Path != "/" || cookie.MaxAge != 12*60*60 || len(cookie.Value) < 43 {
		t.Errorf("the cookie is %v", cookie)
	}
	held := "cairn_session=" + cookie.Value
	got := e.do("GET", "/auth/session", "", nil, "Cookie", held)
	who := got.want(200)
	if who["signedIn"] != true || fmt.Sprint(who["roles"]) != "[reader editor]" || who["workspace"] != "default" || who["user"] == "" || got.header.Get("Set-Cookie") == "" {
		t.Errorf("the editor is %v", who)
	}
	e.do("GET", own+"/documents", "", nil, "Cookie", held).want(200)
	e.do("GET", own+"/keys", "", nil, "Cookie", held).want(403)
	e.do("GET", own+"/documents", "", nil, "Cookie", held, "Authorization", "Bearer wrong").want(401) // the header leads
	e.do("GET", own+"/documents", "", nil, "Cookie", "cairn_session=made-up").want(401)
	if secure := e.do("POST", "/auth/session", "", fmt.Sprintf(`{"key":%q}`, e.editor), "X-Forwarded-Proto", "https").header.Get("Set-Cookie"); !strings.Contains(secure, "; Secure") {
		t.Errorf("behind https the cookie is %s", secure)
	}

	e.do("DELETE", "/auth/session", "", nil, "Cookie", held).want(403)
	e.do("DELETE", "/auth/session", "", nil, "Cookie", held, "Sec-Fetch-Site", "same-origin").want(204)
	e.do("GET", own+"/documents", "", nil, "Cookie", held).want(401)
	e.do("DELETE", "/auth/session", "", nil).want(204)
}

func TestSessionEndsWithItsKey(t *testing.T) {
	t.Parallel()
	e := open(t)
	made := e.do("POST", own+"/keys", e.admin, `{"name":"ann's browser","scopes":["read"]}`).want(201)
	held := "cairn_session=" + signIn(e, made["key"].(string)).Value
	if who := e.do("GET", "/auth/session", "", nil, "Cookie", held).want(200); who["user"] != "ann's browser" {
		t.Errorf("signed in as %v", who)
	}
	e.exec("UPDATE api_keys SET expires_at = ? WHERE id = ?", time.Now().Add(-time.Second).UnixMicro(), made["id"])
	e.do("GET", own+"/documents", "", nil, "Cookie", held).want(401)
	e.exec("UPDATE api_keys SET expires_at = 0 WHERE id = ?", made["id"])
	e.do("GET", own+"/documents", "", nil, "Cookie", held).want(200)
	e.do("DELETE", own+"/keys/"+made["id"].(string), e.admin, nil).want(204)
	e.do("GET", own+"/documents", "", nil, "Cookie", held).want(401)
	if who := e.do("GET", "/auth/session", "", nil, "Cookie", held).want(200); who["signedIn"] != false {
		t.Errorf("after the key was revoked: %v", who)
	}
}

// TestSessionsSlide moves the stored end of a session, as time would.
func TestSessionsSlide(t *testing.T) {
	t.Parallel()
	e := open(t)
	cookie := signIn(e, e.reader).Value
	ends := func() time.Duration {
		t.Helper()
		session, _, err := e.store.KeyBySession(t.Context(), access.HashKey(cookie))
		if err != nil {
			t.Fatal(err)
		}
		return time.Until(session.ExpiresAt)
	}
	read := func() answer { return e.do("GET", own+"/documents", "", nil, "Cookie", "cairn_session="+cookie) }
	for _, c := range []struct {
		left  time.Duration
		moves bool
	}{{12*time.Hour - 30*time.Second, false}, {12*time.Hour - 2*time.Minute, true}, {time.Minute, true}} {
		e.exec("UPDATE sessions SET expires_at = ?", time.Now().Add(c.left).UnixMicro())
		read().want(200)
		if moved := ends()-c.left > 10*time.Second; moved != c.moves {
			t.Errorf("with %v left a request moves the end: %t, want %t", c.left, moved, c.moves)
		}
	}
	if left := ends(); left < 12*time.Hour-time.Minute || left > 12*time.Hour {
		t.Errorf("the session ends in %v", left)
	}
	e.exec("UPDATE sessions SET expires_at = ?", time.Now().Add(-time.Second).UnixMicro())
	read().refused(401, knowledge.CodeUnauthorized)
}

// TestCookieOfAnotherPage sends what another site could have a browser send.
func TestCookieOfAnotherPage(t *testing.T) {
	t.Parallel()
	e := open(t)
	held := "cairn_session=" + signIn(e, e.admin).Value
	ours := "http://example.com"
	for _, fetchSite := range []string{"", "same-origin", "same-site", "cross-site", "none"} {
		for _, origin := range []string{"", ours, "null", "https://evil.example", strings.Replace(ours, "http://", "https://", 1), ours + ".evil.example"} {
			headers := []string{"Cookie", held}
			if fetchSite != "" {
				headers = append(headers, "Sec-Fetch-Site", fetchSite)
			}
			if origin != "" {
				headers = append(headers, "Origin", origin)
			}
			want := 403
			if fetchSite == "same-origin" || origin == ours {
				want = 201
			}
			if got := e.do("POST", own+"/conversations", "", `{"title":"t"}`, headers...); got.status != want {
				t.Errorf("Sec-Fetch-Site %q and Origin %q: %d, want %d", fetchSite, origin, got.status, want)
			}
			e.do("GET", own+"/documents", "", nil, headers...).want(200)
			if signsIn := e.do("POST", "/auth/session", "", fmt.Sprintf(`{"key":%q}`, e.admin), headers[2:]...).status; signsIn != map[bool]int{true: 200, false: 403}[want == 201 || fetchSite+origin == ""] {
				t.Errorf("Sec-Fetch-Site %q and Origin %q sign in: %d", fetchSite, origin, signsIn)
			}
		}
	}
	e.do("GET", own+"/websocket?runId=x", "", nil, "Cookie", held, "Connection", "Upgrade", "Upgrade", "websocket", "Origin", "https://evil.example").want(403)
}

// TestOwnOrigins has pages of Cairn at the address of the request and at the configured one.
func TestOwnOrigins(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		public, host, proto, origin string
		want                        int
	}{
		{"https://cairn.test", "10.0.0.5:8080", "", "https://cairn.test", 201},
		{"https://cairn.test", "10.0.0.5:8080", "", "http://10.0.0.5:8080", 201},
		{"https://cairn.test/rag/", "cairn.test", "", "https://cairn.test", 201},
		{"https://Cairn.test:443", "inside", "", "https://cairn.test", 201},
		{"", "cairn.test:443", "https", "https://cairn.test", 201},
		{"", "[::1]:80", "", "http://[::1]", 201},
		{"https://cairn.test", "inside", "", "https://cairn.test:8443", 403},
		{"https://cairn.test", "inside", "", "http://cairn.test", 403},
		{"", "cairn.test", "https", "http://cairn.test", 403},
		{"", "cairn.test", "", "http://cairn.test:8080", 403},
		{"", "cairn.test", "", "http://other.cairn.test", 403},
		{"", "cairn.test", "", "null", 403},
		{"", "cairn.test", "", "file://cairn.test", 403},
	} {
		e := open(t, func(cfg *api.Config, _ *api.Deps) { cfg.PublicURL = c.public })
		held := "cairn_session=" + signIn(e, e.admin).Value
		got := e.do("POST", "http://"+c.host+own+"/conversations", "", `{"title":"t"}`, "Cookie", held, "Origin", c.origin, "X-Forwarded-Proto", c.proto)
		if got.status != c.want {
			t.Errorf("%+v: status %d", c, got.status)
		}
	}
}

func TestSignInLink(t *testing.T) {
	t.Parallel()
	e := open(t)
	replaced, token := e.access.NewSignInToken(e.admin), e.access.NewSignInToken(e.admin)
	signIn := func(token string) answer {
		return e.do("POST", "/auth/session", "", map[string]any{"token": token})
	}
	for _, wrong := range []string{replaced, token + "x", e.admin} {
		signIn(wrong).refused(401, knowledge.CodeUnauthorized)
	}
	var signedIn atomic.Int32
	var browsers sync.WaitGroup
	for range 8 {
		browsers.Go(func() {
			if got := signIn(token); got.status == 200 && strings.Contains(string(got.body), `"roles":["reader","editor","admin"]`) {
				signedIn.Add(1)
			}
		})
	}
	browsers.Wait()
	if signedIn.Load() != 1 {
		t.Errorf("a link has signed %d browsers in", signedIn.Load())
	}
	again := signIn(token)
	again.refused(401, knowledge.CodeUnauthorized)
	if !strings.Contains(string(again.body), "sign in with an API key, or start cairn up again") {
		t.Errorf("a used link is refused with %s", again.body)
	}
}

func TestWrongSignIns(t *testing.T) {
	t.Parallel()
	e := open(t)
	e.remote = "192.0.2.9:999"
	for _, body := range []string{`{}`, `{"key":"a","token":"b"}`} {
		e.do("POST", "/auth/session", "", body).want(422)
	}
	var statuses []int
	for i := range 12 {
		statuses = append(statuses, e.do("POST", "/auth/session", "", fmt.Sprintf(`{%q:"wrong"}`, []string{"key", "token"}[i%2])).status)
	}
	if want := slices.Concat(slices.Repeat([]int{401}, 10), []int{429, 429}); !slices.Equal(statuses, want) {
		t.Errorf("wrong keys and tokens get %v, want %v", statuses, want)
	}
	signIn(e, e.reader)
}

// TestSecretsOfASession creates a key by a session. The stored answer has the new key in it,
// and only the cookie that asked opens it.
func TestSecretsOfASession(t *testing.T) {
	t.Parallel()
	e := open(t)
	create := func(cookie *http.Cookie) answer {
		return e.do("POST", own+"/keys", "", `{"name":"made on a page","scopes":["read"]}`,
			"Cookie", "cairn_session="+cookie.Value, "Sec-Fetch-Site", "same-origin", "Idempotency-Key", "once")
	}
	first := signIn(e, e.admin)
	made := create(first).want(201)
	if again := create(first).want(201); again["key"] != made["key"] {
		t.Errorf("a repetition returns the key %v, want %v", again["key"], made["key"])
	}
	create(signIn(e, e.admin)).refused(409, knowledge.CodeConflict)
}
