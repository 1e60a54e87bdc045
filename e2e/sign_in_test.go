package e2e_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
)

// printedToken returns the token of the link that the server printed at its last start.
func (s *server) printedToken(t *testing.T) string {
	t.Helper()
	log, err := os.ReadFile(s.log)
	if err != nil {
		t.Fatal(err)
	}
	links := regexp.MustCompile(regexp.QuoteMeta(s.ends.API)+`/#token=(\S+)`).FindAllStringSubmatch(string(log), -1)
	if len(links) == 0 {
		t.Fatalf("no link in %s", log)
	}
	if first := regexp.MustCompile(`http://127[^ \n]*`).FindString(string(log)); first != s.ends.API {
		t.Errorf("the first address that is printed is %s, want that of the API", first)
	}
	return links[len(links)-1][1]
}

// fromPage sends a request as a page of the server does, with a cookie if it has one.
func (s *server) fromPage(t *testing.T, method, path string, cookie *http.Cookie, body any) *http.Response {
	t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, s.ends.API+path, bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Origin", s.ends.API)
	if cookie != nil {
		request.AddCookie(cookie)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

func (s *server) signInWith(t *testing.T, token string) *http.Response {
	t.Helper()
	return s.fromPage(t, "POST", "/auth/session", nil, map[string]string{"token": token})
}

func TestSignInByThePrintedLink(t *testing.T) {
	t.Parallel()
	s := start(t)
	token := s.printedToken(t)
	response := s.signInWith(t, token)
	if response.StatusCode != http.StatusOK || len(response.Cookies()) != 1 {
		t.Fatalf("the link signs in with status %d and %d cookies", response.StatusCode, len(response.Cookies()))
	}
	cookie := response.Cookies()[0]
	uses := func(want int) {
		t.Helper()
		if got := s.fromPage(t, "GET", "/workspaces/default/keys", cookie, nil).StatusCode; got != want {
			t.Errorf("reading with the cookie: status %d, want %d", got, want)
		}
	}
	uses(200)
	if got := s.fromPage(t, "POST", "/workspaces/default/conversations", cookie, map[string]string{"title": "t"}).StatusCode; got != 201 {
		t.Errorf("writing with the cookie: status %d", got)
	}

	s.kill()
	s.restart()
	uses(200)
	if got := s.signInWith(t, token).StatusCode; got != 401 {
		t.Errorf("the link of the process before: status %d", got)
	}
	next := s.printedToken(t)
	for i, want := range []int{200, 401} {
		if got := s.signInWith(t, next).StatusCode; got != want {
			t.Errorf("use %d of the new link: status %d, want %d", i+1, got, want)
		}
	}
	if got := s.fromPage(t, "DELETE", "/auth/session", cookie, nil); got.StatusCode != 204 || !strings.Contains(got.Header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("signing out: status %d, Set-Cookie %q", got.StatusCode, got.Header.Get("Set-Cookie"))
	}
	uses(401)
}
