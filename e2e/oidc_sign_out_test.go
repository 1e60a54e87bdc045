package e2e_test

import (
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

var hiddenToken = regexp.MustCompile(`name="xsrf" value="([^"]+)"`)

// signOutHere ends the session of a browser and returns the address that the answer has.
func (s *server) signOutHere(t *testing.T, browser *http.Client) string {
	t.Helper()
	var out struct{ Address string }
	if status := s.call(t, "DELETE", "/auth/session", nil, &out, s.as(t, browser)...); status != http.StatusOK {
		t.Fatalf("signing out: status %d", status)
	}
	return out.Address
}

// asksWhom reports whether the identity provider asks a browser that signs in who its user is.
func (s *server) asksWhom(t *testing.T, browser *http.Client) bool {
	t.Helper()
	res, err := browser.Get(s.ends.API + "/auth/login?return=/documents")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	page, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	asks := strings.Contains(string(page), `name="login"`)
	if cairn := strings.HasPrefix(res.Request.URL.String(), s.ends.API); cairn == asks {
		t.Fatalf("signing in again ends at %s", res.Request.URL)
	}
	return asks
}

// TestSigningOutOfARealProvider signs out of Cairn, and then of oidc-provider at the address that
// the answer has: without the second step the identity provider signs the browser in again
// without asking.
func TestSigningOutOfARealProvider(t *testing.T) {
	t.Parallel()
	s := withProvider(t)
	ann, _ := s.signInAt(t, "ann")
	address := s.signOutHere(t, ann)
	if s.asksWhom(t, ann) {
		t.Error("the session at the identity provider has ended before the browser went there")
	}
	if again := s.signOutHere(t, ann); again != address {
		t.Errorf("signing out leads to %s and to %s", address, again)
	}
	res, err := ann.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(res.Body)
	if _ = res.Body.Close(); err != nil {
		t.Fatal(err)
	}
	action, token := formAction.FindSubmatch(page), hiddenToken.FindSubmatch(page)
	if action == nil || token == nil {
		t.Fatalf("%s answers with status %d: %.500s", address, res.StatusCode, page)
	}
	res, err = ann.PostForm(string(action[1]), url.Values{"xsrf": {string(token[1])}, "logout": {"yes"}})
	if err != nil {
		t.Fatal(err)
	}
	if _ = res.Body.Close(); res.Request.URL.String() != s.ends.API+"/" {
		t.Errorf("the identity provider sends the browser to %s", res.Request.URL)
	}
	if !s.asksWhom(t, ann) {
		t.Error("the identity provider still knows who signs in")
	}
	var found struct{ Data []auditEntry }
	s.call(t, "GET", "/workspaces/default/audit?action=sign-out", nil, &found)
	if len(found.Data) != 2 || slices.ContainsFunc(found.Data, func(e auditEntry) bool { return e.Actor != "user:ann" }) {
		t.Errorf("the audit of signing out is %+v", found.Data)
	}

	// A browser that signed in with a key stays here.
	signedIn, err := http.Post(s.ends.API+"/auth/session", "application/json", strings.NewReader(`{"key": "`+s.key+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	_ = signedIn.Body.Close()
	cookie := strings.Split(signedIn.Header.Get("Set-Cookie"), ";")[0]
	if status := s.call(t, "DELETE", "/auth/session", nil, nil, "Cookie", cookie, "Authorization", "", "Sec-Fetch-Site", "same-origin"); status != http.StatusNoContent {
		t.Errorf("a session of a key: status %d", status)
	}
}

// TestConsoleSignsOutAtTheProvider signs out by the menu, confirms it at the identity provider, and
// is asked who signs in when it comes back.
func TestConsoleSignsOutAtTheProvider(t *testing.T) {
	t.Parallel()
	page := browser(t)
	s := withProvider(t)
	found := thrownIn(page)
	open(t, page, s.ends.API+"/documents")
	const provider = `[...document.querySelectorAll("dialog.signin button")].find(b => b.textContent.startsWith("Sign in with"))`
	click(t, page, provider)
	awaitPage(t, page, `!!document.querySelector("input[name=login]")`)
	do(t, page, chromedp.SendKeys(`input[name=login]`, "ann", chromedp.ByQuery), chromedp.SendKeys(`input[name=password]`, "any", chromedp.ByQuery))
	click(t, page, `document.querySelector("button[type=submit]")`)
	awaitPage(t, page, `!document.querySelector("input[name=login]") && document.body.innerText.includes("Authorize")`)
	click(t, page, `document.querySelector("button[type=submit]")`)
	awaitPage(t, page, `document.querySelector("header .menu summary")?.textContent === "ann"`)
	s.signOutByMenu(t, page)
	awaitPage(t, page, `!!document.querySelector("dialog.signin")`)
	if at := evaluate[string](t, page, `location.href`); at != s.ends.API+"/" {
		t.Errorf("the browser comes back to %s", at)
	}
	click(t, page, provider)
	awaitPage(t, page, `!!document.querySelector("input[name=login]")`)
	if len(*found) > 0 {
		t.Errorf("the page threw %v", *found)
	}
}
