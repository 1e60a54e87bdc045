package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// idp is the identity provider of clients/provider.mjs.
type idp struct {
	address string
	serve   func(cairn string) // begins to serve, for the instance at an address
}

// identityProvider starts oidc-provider. The test is skipped without it, and fails in CI.
func identityProvider(t *testing.T) idp {
	t.Helper()
	folder, err := filepath.Abs("../bin/tools/provider")
	if err != nil {
		t.Fatal(err)
	}
	_, err = os.Stat(filepath.Join(folder, "node_modules", "oidc-provider"))
	if _, noNode := exec.LookPath("node"); err != nil || noNode != nil {
		missing := "the identity provider is not installed: run .ci/stand-ins"
		if os.Getenv("CI") != "" {
			t.Fatal(missing)
		}
		t.Skip(missing)
	}
	ctx, cancel := context.WithCancel(context.Background())
	command := exec.CommandContext(ctx, "node", filepath.Join("clients", "provider.mjs"))
	command.Env = append(os.Environ(), "PROVIDER="+folder, "CLIENT_SECRET="+tokenSecret)
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		_ = command.Wait() // it was killed
	})
	lines := bufio.NewScanner(out)
	line := func() string {
		if !lines.Scan() {
			t.Fatalf("the identity provider has ended: %v", lines.Err())
		}
		return lines.Text()
	}
	return idp{line(), func(cairn string) {
		t.Helper()
		if _, err := fmt.Fprintln(in, cairn); err != nil || line() != "ready" {
			t.Fatalf("the identity provider does not serve: %v", err)
		}
	}}
}

// withProvider starts a server whose identity provider it is.
func withProvider(t *testing.T, env ...string) *server {
	t.Helper()
	p := identityProvider(t)
	s := start(t, append(env, "OIDC_SECRET="+tokenSecret, "CAIRN_AUTH__OIDC__CLIENT_SECRET_ENV=OIDC_SECRET", "CAIRN_AUTH__OIDC__CLIENT_ID=cairn", "CAIRN_AUTH__OIDC__ISSUER="+p.address,
		"CAIRN_AUTH__OIDC__CLAIMS__ROLES=roles", "CAIRN_AUTH__OIDC__CLAIMS__GROUPS=groups", "CAIRN_AUTH__OIDC__CLAIMS__USER=sub")...)
	p.serve(s.ends.API)
	return s
}

var formAction = regexp.MustCompile(`action="([^"]+)"`)

// signInAt signs a user in at the identity provider, and returns the client that has the
// cookies and the answer to the last request.
func (s *server) signInAt(t *testing.T, user string) (*http.Client, *http.Response) {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, Timeout: time.Minute}
	res, err := browser.Get(s.ends.API + "/auth/login?return=/documents")
	for _, prompt := range []string{"login", "consent"} {
		if err != nil {
			t.Fatal(err)
		}
		page, readErr := io.ReadAll(res.Body)
		if _ = res.Body.Close(); readErr != nil {
			t.Fatal(readErr)
		}
		action := formAction.FindSubmatch(page)
		if action == nil {
			t.Fatalf("%s: status %d of %s: %.500s", prompt, res.StatusCode, res.Request.URL, page)
		}
		address, parseErr := res.Request.URL.Parse(string(action[1]))
		if parseErr != nil {
			t.Fatal(parseErr)
		}
		res, err = browser.PostForm(address.String(), url.Values{"prompt": {prompt}, "login": {user}, "password": {"any"}})
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = res.Body.Close() })
	return browser, res
}

// as returns the cookie of a client that has signed in.
func (s *server) as(t *testing.T, browser *http.Client) []string {
	t.Helper()
	u, err := url.Parse(s.ends.API)
	if err != nil {
		t.Fatal(err)
	}
	var cookies []string
	for _, c := range browser.Jar.Cookies(u) {
		if c.Name == "cairn_session" {
			cookies = append(cookies, c.String())
		}
	}
	return []string{"Cookie", strings.Join(cookies, "; "), "Authorization", "", "Sec-Fetch-Site", "same-origin"}
}

// TestSignInWithARealProvider signs people in with oidc-provider, an implementation of OpenID
// Connect that we did not write.
func TestSignInWithARealProvider(t *testing.T) {
	t.Parallel()
	s := withProvider(t)
	type session struct {
		SignedIn       bool
		User           string
		Roles, Methods []string
	}
	ann, landed := s.signInAt(t, "ann")
	if landed.Request.URL.Path != "/documents" {
		t.Errorf("she lands at %s with status %d", landed.Request.URL, landed.StatusCode)
	}
	var who session
	if s.call(t, "GET", "/auth/session", nil, &who, s.as(t, ann)...); fmt.Sprint(who) != "{true ann [reader] [oidc key]}" {
		t.Errorf("the session is %+v", who)
	}
	root, _ := s.signInAt(t, "root")
	for browser, want := range map[*http.Client]int{ann: http.StatusForbidden, root: http.StatusOK} {
		if status := s.call(t, "GET", "/workspaces/default/keys", nil, nil, s.as(t, browser)...); status != want {
			t.Errorf("keys: status %d, want %d", status, want)
		}
	}
	if _, refused := s.signInAt(t, "nobody"); refused.StatusCode != http.StatusForbidden {
		t.Errorf("somebody without a role: status %d", refused.StatusCode)
	}
	out := s.as(t, ann)
	if status := s.call(t, "DELETE", "/auth/session", nil, nil, out...); status != http.StatusOK {
		t.Errorf("signing out: status %d", status)
	}
	if status := s.call(t, "GET", "/workspaces/default/documents", nil, nil, out...); status != http.StatusUnauthorized {
		t.Errorf("after signing out: status %d", status)
	}
}

// TestADeactivatedUsersSessionEnds deactivates a user who signed in with the identity provider,
// in the middle of an answer. Within two seconds his stream has ended; the session of another
// user goes on.
func TestADeactivatedUsersSessionEnds(t *testing.T) {
	t.Parallel()
	s := withProvider(t, at(standIn(t, modeltest.Options{Tokens: 600, TokenDelay: 50 * time.Millisecond}).URL())...)
	s.publish(t, "lights", "The northern pier has a lighthouse.")
	token := s.scimToken(t)
	id := s.provisionUser(t, token, "ann")
	ann, _ := s.signInAt(t, "ann")
	bob, _ := s.signInAt(t, "bob")
	ctx, cancel := context.WithTimeout(t.Context(), 25*time.Second)
	defer cancel()
	streams := s.openStreams(ctx, t, s.as(t, ann))
	s.provision(t, token, "PATCH", "/Users/"+id, fmt.Sprintf(scimPatch, `{"op":"replace","value":{"active":false}}`))
	off := time.Now()
	for _, stream := range streams {
		rest, err := io.ReadAll(stream.Body)
		if took := time.Since(off); err != nil || took > 2*time.Second || bytes.Contains(rest, []byte("completedMessage")) {
			t.Errorf("the stream ended after %v: %v", took, err)
		}
	}
	for browser, want := range map[*http.Client]int{ann: http.StatusUnauthorized, bob: http.StatusOK} {
		if status := s.call(t, "GET", "/workspaces/default/documents", nil, nil, s.as(t, browser)...); status != want {
			t.Errorf("documents: status %d, want %d", status, want)
		}
	}
	endsWithin(t, off, 2*time.Second, "the deactivated user is refused", func() error { // members are read anew after a second
		_, refused := s.signInAt(t, "ann")
		if refused.StatusCode != http.StatusForbidden {
			return fmt.Errorf("he signs in again: status %d", refused.StatusCode)
		}
		return nil
	})
}

// TestConsoleSignsInWithAProvider clicks through a sign-in.
func TestConsoleSignsInWithAProvider(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := withProvider(t)
	found := thrownIn(page)
	const provider = `[...document.querySelectorAll("dialog.signin button")].find(b => b.textContent.startsWith("Sign in with"))`
	signIn := func(user string) {
		t.Helper()
		click(t, page, provider)
		awaitPage(t, page, `!!document.querySelector("input[name=login]")`)
		do(t, page, chromedp.SendKeys(`input[name=login]`, user, chromedp.ByQuery), chromedp.SendKeys(`input[name=password]`, "any", chromedp.ByQuery))
		click(t, page, `document.querySelector("button[type=submit]")`)
		awaitPage(t, page, `!document.querySelector("input[name=login]") && document.body.innerText.includes("Authorize")`)
		click(t, page, `document.querySelector("button[type=submit]")`)
	}
	open(t, page, s.ends.API+"/documents?status=error")
	signIn("ann")
	awaitPage(t, page, `document.querySelector("header .menu summary")?.textContent === "ann"`)
	if address := evaluate[string](t, page, `location.pathname + location.search`); address != "/documents?status=error" {
		t.Errorf("she comes back to %s", address)
	}
	s.signOutByMenu(t, page)
	awaitPage(t, page, `!!document.querySelector("dialog.signin")`)
	if status := evaluate[int](t, page, `fetch("/workspaces/default/documents").then(r => r.status)`); status != http.StatusUnauthorized {
		t.Errorf("after signing out: status %d", status)
	}
	open(t, page, s.ends.API+"/healthz") // a change of the fragment alone loads no page
	open(t, page, s.ends.API+"/#refused=forbidden")
	awaitPage(t, page, `document.querySelector("dialog.signin [role=alert]")?.textContent.includes("no role")`)
	if len(*found) > 0 {
		t.Errorf("the page threw %v", *found)
	}
}

// signOutByMenu signs out of Cairn by the menu, and of the identity provider by its page.
func (s *server) signOutByMenu(t *testing.T, page context.Context) {
	t.Helper()
	click(t, page, `document.querySelector("header .menu summary")`)
	click(t, page, `[...document.querySelectorAll("header .menu button")].find(b => b.textContent === "Sign out")`)
	click(t, page, `document.querySelector("button[name=logout]")`)
}
