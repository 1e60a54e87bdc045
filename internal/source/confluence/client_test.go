package confluence_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/confluence"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

// TestRefusals has a wrong secret, and a space that the account does not see.
func TestRefusals(t *testing.T) {
	t.Parallel()
	for _, cloud := range []bool{true, false} {
		p := newPlace(t, cloud, false)
		try := func() error { return confluence.Try(t.Context(), p.follow, sourcetest.Local(p)) }
		if err := try(); err != nil {
			t.Errorf("the right secret: %v", err)
		}
		p.follow.Credentials = "expired"
		if err := try(); !knowledge.IsCode(err, knowledge.CodeForbidden) || !strings.Contains(err.Error(), "token") {
			t.Errorf("a wrong secret: %v", err)
		}
		p.follow.Credentials, p.follow.Scope.Space = sourcetest.ConfluenceSecret, "NONE"
		if _, _, err := p.list(); !knowledge.IsCode(err, knowledge.CodeNotFound) || !strings.Contains(err.Error(), "NONE") {
			t.Errorf("another space: %v", err)
		}
		p.follow.Scope.Space, p.follow.Mirror = p.Space, true
		p.NoPermissions = true
		p.World.Create(0, "page", false, "text")
		if _, _, err := p.list(); !knowledge.IsCode(err, knowledge.CodeForbidden) || !strings.Contains(err.Error(), "administrator of the space") {
			t.Errorf("without the right to read rights: %v", err)
		}
	}
}

func TestSlow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		in := func(d time.Duration) string { return time.Now().UTC().Add(d).Format("2006-01-02T15:04Z") }
		for _, c := range []struct {
			status int
			header http.Header
			after  time.Duration
			slow   bool
		}{
			{429, http.Header{"Retry-After": {"7"}}, 7 * time.Second, true},
			{429, http.Header{"X-Ratelimit-Reset": {in(2 * time.Minute)}}, 2 * time.Minute, true},
			{429, http.Header{}, 0, true},
			{503, http.Header{"Retry-After": {"7"}}, 7 * time.Second, true},
			{503, http.Header{}, 0, false},
			{200, http.Header{"X-Ratelimit-Reset": {in(2 * time.Minute)}}, 0, false},
		} {
			if after, slow := confluence.Slow(&http.Response{StatusCode: c.status, Header: c.header}); after != c.after || slow != c.slow {
				t.Errorf("%d %v: %v, %v", c.status, c.header, after, slow)
			}
		}
	})
}

// TestCredentialsGoNowhereElse has an attachment whose bytes Confluence says are on another
// server.
func TestCredentialsGoNowhereElse(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"https://evil.test/x", "//evil.test/x", ""} {
		client := sourcetest.Local(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Host != "wiki.test" {
				t.Errorf("a request goes to %s", r.Host)
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"id":"att1","type":"attachment","status":"current","version":{"number":1},"_links":{"download":%q}}`, address)
		}))
		s, err := confluence.New(follow(sourcetest.NewConfluence(newWorld(), true)), client)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Open(t.Context(), source.Object{Ref: "att1"}, ""); !knowledge.IsCode(err, knowledge.CodeInvalid) {
			t.Errorf("%q: %v", address, err)
		}
	}
}
