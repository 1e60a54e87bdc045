package drive_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/drive"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

// TestSlowDownIsNotLostAccess has Google refuse requests by 403 because there are too many, for
// longer than a request waits: a listing, the rights of a file and its bytes are tried again
// later, and nobody loses a right.
func TestSlowDownIsNotLostAccess(t *testing.T) {
	t.Parallel()
	fake := sourcetest.NewDrive(sourcetest.NewWorld("ann@example.org"), newKey(t))
	fake.Exports = func(int) bool { return false }
	fake.World.Create(0, "a.txt", false, "text")
	refused := ""
	s, err := drive.New(source.Follow{
		Options: source.Settings{URL: "http://drive.test", Subject: "ann@example.org"}, Credentials: fake.Account(), Mirror: true, Scope: source.Scope{Drive: "item-0"},
	}, sourcetest.Local(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if refused == "" || !strings.Contains(r.URL.Path, refused) {
			fake.ServeHTTP(w, r)
			return
		}
		w.WriteHeader(http.StatusForbidden)
		_, _ = fmt.Fprint(w, `{"error":{"code":403,"errors":[{"domain":"usageLimits","reason":"userRateLimitExceeded"}]}}`)
	})))
	if err != nil {
		t.Fatal(err)
	}
	page, err := s.List(t.Context(), "")
	if err != nil || len(page.Objects) != 1 {
		t.Fatalf("it lists %+v, %v", page.Objects, err)
	}
	for _, refused = range []string{"/files", "/permissions", "/changes"} {
		if page, err := s.List(t.Context(), ""); !knowledge.IsCode(err, knowledge.CodeRateLimited) {
			t.Errorf("%s: it lists %+v, %v", refused, page.Objects, err)
		}
	}
	refused = "/files/"
	if _, _, err := s.Open(t.Context(), page.Objects[0], ""); !knowledge.IsCode(err, knowledge.CodeRateLimited) {
		t.Errorf("the file is not read for %v", err)
	}
}

// TestUnchangedDrive counts the requests of a run of a large drive in which nothing has changed,
// and of one of which a file has.
func TestUnchangedDrive(t *testing.T) {
	t.Parallel()
	fake := sourcetest.NewDrive(sourcetest.NewWorld("ann@example.org"), newKey(t))
	fake.Exports = func(int) bool { return false }
	for n := range 3000 {
		fake.World.Create(0, fmt.Sprintf("%d.txt", n), false, "text")
	}
	asked := 0
	client := sourcetest.Local(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		fake.ServeHTTP(w, r)
	}))
	for _, mirror := range []bool{false, true} {
		cursor := ""
		run := func() (listed int) {
			t.Helper()
			s, err := drive.New(source.Follow{
				Options: source.Settings{URL: "http://drive.test", Subject: "ann@example.org"}, Credentials: fake.Account(), Mirror: mirror, Cursor: cursor,
			}, client)
			if err != nil {
				t.Fatal(err)
			}
			asked = 0
			for token := ""; ; {
				page, err := s.List(t.Context(), token)
				if err != nil {
					t.Fatal(err)
				}
				listed += len(page.Objects)
				if token = page.Next; token == "" {
					cursor = page.Cursor
					return listed
				}
			}
		}
		if listed := run(); listed != 3000 {
			t.Errorf("the first run lists %d files", listed)
		}
		if listed := run(); listed != 0 || asked > 5 {
			t.Errorf("unchanged, mirror %t: it lists %d files by %d requests", mirror, listed, asked)
		}
		fake.World.Edit(17, "another text")
		if listed := run(); listed != 1 || asked > 5 {
			t.Errorf("with a change, mirror %t: it lists %d files by %d requests", mirror, listed, asked)
		}
	}
}
