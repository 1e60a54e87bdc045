package git_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/git"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

// TestSecretEnds asks services that say when a token expires, and others.
func TestSecretEnds(t *testing.T) {
	t.Parallel()
	hub := func(expires string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/rate_limit" && r.URL.Path != "/api/v3/rate_limit" {
				w.WriteHeader(http.StatusNotFound)
				return
			}
			w.Header().Set("GitHub-Authentication-Token-Expiration", expires)
			_, _ = w.Write([]byte(`{"resources":{}}`))
		}
	}
	lab := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/api/v4/personal_access_tokens/self" {
				w.WriteHeader(http.StatusNotFound)
				return
			}
			_, _ = w.Write([]byte(body))
		}
	}
	for name, c := range map[string]struct {
		url     string
		service http.HandlerFunc
		want    time.Time
		host    string
	}{
		"GitHub":                     {"https://github.com/example/handbook.git", hub("2030-01-02 03:04:05 UTC"), time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC), "api.github.com"},
		"GitHub of one's own":        {"http://git.test/example", hub("2030-01-02 03:04:05 +0100"), time.Date(2030, 1, 2, 2, 4, 5, 0, time.UTC), "git.test"},
		"a token of GitHub for ever": {"https://github.com/example", hub(""), time.Time{}, "api.github.com"},
		"GitLab":                     {"http://git.test/group/handbook.git", lab(`{"expires_at":"2030-01-02"}`), time.Date(2030, 1, 2, 0, 0, 0, 0, time.UTC), "git.test"},
		"a token of GitLab for ever": {"http://git.test/group", lab(`{"expires_at":null}`), time.Time{}, "git.test"},
		"another server":             {"http://git.test/group", http.NotFound, time.Time{}, "git.test"},
		"a server that leads away": {"http://git.test/group", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://elsewhere.test/", http.StatusFound)
		}, time.Time{}, "git.test"},
		"a server with a page for all": {"http://git.test/group", lab("<html>"), time.Time{}, "git.test"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := source.Follow{Options: source.Settings{URL: c.url}, Credentials: "token"}
			ends, err := git.SecretEnds(t.Context(), f, sourcetest.Local(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Host != c.host || r.Header.Get("Authorization") != "Bearer token" {
					t.Errorf("%s is asked, with %q", r.Host, r.Header.Get("Authorization"))
				}
				c.service(w, r)
			})))
			if err != nil || !ends.Equal(c.want) {
				t.Errorf("it expires at %v, want %v; %v", ends, c.want, err)
			}
		})
	}
}
