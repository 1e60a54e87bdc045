package e2e_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

// gitFiles is how many files the branch has.
const gitFiles = 200

// TestGitSync follows a branch that git serves: over a kill, renames, removals, a forced push
// and a pointer to a large file.
func TestGitSync(t *testing.T) {
	t.Parallel()
	r := sourcetest.NewRepository(t)
	var asked, pause atomic.Int64
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		asked.Add(1)
		time.Sleep(time.Duration(pause.Load()))
		r.ServeHTTP(w, q)
	}))
	t.Cleanup(host.Close)
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL(), "CAIRN_EGRESS__ALLOW=127.0.0.0/8")...)
	for n := range gitFiles {
		r.Write(fmt.Sprintf("docs/part %d/note %d.txt", n%5, n), fmt.Sprintf("The password of lighthouse %d is seagull%d.", n, n))
	}
	r.Write("docs/film.mp4", "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n")
	r.Write("notes/other.txt", "This is not followed.")
	r.Commit()
	pause.Store(int64(20 * time.Millisecond))
	y := s.followPlace(t, client.NewConnection{Type: "git", Options: map[string]string{"url": host.URL + sourcetest.GitPath}, Secret: "token"},
		client.NewSync{Every: "24h", Scope: map[string]string{"branch": "main", "folder": "docs"}})
	s.awaitPublishedObjects(t, y.LastRun.ID, 40)
	s.kill()
	s.restart()
	pause.Store(0)
	y = s.syncEnds(t, y)
	wantSync(t, y, gitFiles+1, gitFiles, 0, 1, 0)
	if len(y.Failures) != 1 || y.Failures[0].Error.Code != "unsupported_format" || y.Failures[0].Name != "film.mp4" {
		t.Errorf("failures are %+v", y.Failures)
	}
	document := func(path string) client.Document {
		t.Helper()
		return s.imported(t)[host.URL+sourcetest.GitPath+"#main:docs/"+strings.ReplaceAll(path, " ", "%20")]
	}
	before := document("part 1/note 6.txt")
	if before.Name != "part 1/note 6.txt" || before.PublishedVersion != 1 {
		t.Fatalf("a document is %+v", before)
	}

	t.Run("a run without a change asks once, and for the file that failed", func(t *testing.T) {
		asked.Store(0)
		wantSync(t, s.syncNow(t, y.ID), 1, 0, 0, 1, 0)
		if n := asked.Load(); n != 2 {
			t.Errorf("it sent %d requests", n)
		}
	})
	t.Run("changes, renames and removals are followed", func(t *testing.T) {
		gone := document("part 2/note 7.txt")
		r.Git("mv", "docs/part 1", "docs/one")
		r.Git("rm", "--quiet", "docs/part 2/note 7.txt")
		r.Write("docs/part 3/note 8.txt", "The password of lighthouse 8 is puffin8.")
		r.Write("docs/new.txt", "The password of the new lighthouse is gannet.")
		r.Commit()
		texts := m.Totals().Texts
		wantSync(t, s.syncNow(t, y.ID), gitFiles/5+3, gitFiles/5+2, 0, 1, 1)
		if n := m.Totals().Texts - texts; n != 2 {
			t.Errorf("%d texts were embedded for two new ones", n)
		}
		if d := document("part 1/note 6.txt"); d.ID != before.ID || d.Name != "one/note 6.txt" || d.PublishedVersion != 1 {
			t.Errorf("a renamed file is %+v", d)
		}
		if d := document("part 3/note 8.txt"); d.PublishedVersion != 2 {
			t.Errorf("an edited file is %+v", d)
		}
		s.awaitGone(t, gone.ID)
	})
	t.Run("a forced push embeds nothing that is unchanged", func(t *testing.T) {
		r.Write("docs/part 3/note 8.txt", "The password of lighthouse 8 is auk8.")
		r.Rewrite()
		texts := m.Totals().Texts
		wantSync(t, s.syncNow(t, y.ID), gitFiles+1, 1, gitFiles-1, 1, 0)
		if n := m.Totals().Texts - texts; n != 1 {
			t.Errorf("%d texts were embedded for a new one", n)
		}
		if d := document("part 1/note 6.txt"); d.ID != before.ID || d.Name != "one/note 6.txt" {
			t.Errorf("a renamed file is %+v", d)
		}
	})
}
