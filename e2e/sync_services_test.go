package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

// startForRights starts a server with a model, and with readers who sign in with tokens. The
// readers have groups.
func startForRights(t *testing.T, m *modeltest.Server, readers map[string][]string) *server {
	t.Helper()
	s := start(t, at(m.URL(), "CAIRN_EGRESS__ALLOW=127.0.0.0/8", "TOKEN_SECRET="+tokenSecret, "CAIRN_AUTH__JWT__SECRET_ENV=TOKEN_SECRET")...)
	for user, groups := range readers {
		if _, err := s.PutMember(t.Context(), user, client.NewMember{Roles: []string{"reader"}, Groups: groups}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// wantReaders checks which of some people find a text, by the beginnings of their names.
func (s *server) wantReaders(t *testing.T, text string, people []string, want ...string) {
	t.Helper()
	if got := s.readersOf(t, text, people); !slices.Equal(got, want) {
		t.Errorf("%q is found by %v, want %v", text, got, want)
	}
}

// readersOf returns which of some people find a text, by the beginnings of their names.
func (s *server) readersOf(t *testing.T, text string, people []string) (got []string) {
	t.Helper()
	for _, user := range people {
		var found json.RawMessage
		body := map[string]any{"text": text, "projectId": "default"}
		if status := s.call(t, "POST", webhooks+"/retrieve-context", body, &found, tokenOf(t, user)...); status != http.StatusOK {
			t.Fatalf("%s: status %d", user, status)
		}
		if strings.Contains(string(found), text) {
			name, _, _ := strings.Cut(user, "@")
			got = append(got, name)
		}
	}
	return got
}

// TestDriveRights mirrors the rights of Google Drive: of people, of a group, and after they
// were withdrawn without a change of the files, which embeds nothing.
func TestDriveRights(t *testing.T) {
	t.Parallel()
	key, err := sourcetest.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	world := sourcetest.NewWorld("ann@example.org")
	fake := sourcetest.NewDrive(world, key)
	fake.Exports = func(int) bool { return false }
	drive := httptest.NewServer(fake)
	t.Cleanup(drive.Close)
	lamp := world.Create(0, "lamp.txt", false, "The password of the lamp is seagull.")
	horn := world.Create(0, "horn.txt", false, "The password of the horn is puffin.")
	world.Share(lamp, []string{"bob@example.org"}, nil)
	world.Share(horn, nil, []string{"staff@example.org"})
	m := standIn(t, modeltest.Options{})
	people := []string{"ann@example.org", "bob@example.org", "eve@example.org", "mallory@example.org"}
	s := startForRights(t, m, map[string][]string{people[0]: nil, people[1]: nil, people[2]: {"staff@example.org"}, people[3]: {"guests@example.org"}})
	y := s.syncEnds(t, s.followPlace(t, client.NewConnection{
		Type: "drive", Options: map[string]string{"url": drive.URL, "subject": "ann@example.org"}, Secret: fake.Account(),
	}, client.NewSync{Every: "24h", Permissions: "mirror"}))
	wantSync(t, y, 2, 2, 0, 0, 0)
	s.wantReaders(t, "lamp is seagull", people, "ann", "bob")
	s.wantReaders(t, "horn is puffin", people, "ann", "eve")
	world.Share(lamp, nil, nil)
	world.Share(horn, []string{"bob@example.org"}, nil)
	texts := m.Totals().Texts
	wantSync(t, s.syncNow(t, y.ID), 2, 2, 0, 0, 0)
	if got := m.Totals().Texts; got != texts {
		t.Errorf("%d texts were embedded", got-texts)
	}
	s.wantReaders(t, "lamp is seagull", people, "ann")
	s.wantReaders(t, "horn is puffin", people, "ann", "bob")
}

// lampPage is a page as Confluence exports it, with a table, a picture and an emoticon.
const lampPage = `<p>The password of the lamp is seagull <img class="emoticon" alt="(light on)" src="on.png"/></p>
<table class="confluenceTable"><tbody><tr><th>Pier</th><th>Colour</th></tr><tr><td>northern</td><td>green</td></tr></tbody></table>
<p><span class="confluence-embedded-file-wrapper"><img class="confluence-embedded-image" src="plan.png" alt="Plan of the old harbour"/></span></p>`

// TestConfluence follows a space: pages with their attachments, labels, restrictions that
// descend to what is below a page, moves and renames. mallory is in a group of the same name as
// that of Confluence, and never finds anything by it.
func TestConfluence(t *testing.T) {
	t.Parallel()
	world := sourcetest.NewWorld("ann@example.org")
	world.Pages, world.Members = true, map[string][]string{"staff": {"eve@example.org"}}
	world.Share(0, []string{"bob@example.org"}, []string{"staff"})
	fake := sourcetest.NewConfluence(world, true)
	lamps := world.Create(0, "Lamps", true, lampPage)
	fog := world.Create(lamps, "Fog signals", false, "<p>The password of the horn is puffin.</p>")
	tide := world.Create(lamps, "tides.txt", false, "The tide table is kept by the warden.")
	fake.Attached = func(id int) bool { return id == tide }
	world.Label(lamps, "rule", "lights")
	wiki := httptest.NewServer(fake)
	t.Cleanup(wiki.Close)
	m := standIn(t, modeltest.Options{})
	people := []string{"ann@example.org", "bob@example.org", "eve@example.org", "mallory@example.org"}
	s := startForRights(t, m, map[string][]string{people[0]: nil, people[1]: nil, people[2]: nil, people[3]: {"staff"}})
	y := s.syncEnds(t, s.followPlace(t, client.NewConnection{
		Type: "confluence", Options: map[string]string{"url": wiki.URL + fake.Base, "username": sourcetest.ConfluenceUser}, Secret: sourcetest.ConfluenceSecret,
	}, client.NewSync{Every: "24h", Permissions: "mirror", Scope: map[string]string{"space": "DOC"}}))
	wantSync(t, y, 3, 3, 0, 0, 0)
	page := func(id int) client.Document {
		t.Helper()
		return s.imported(t)[fmt.Sprintf("%s/wiki/pages/viewpage.action?pageId=%d", wiki.URL, id)]
	}
	if d := page(lamps); d.Name != "Lamps" || !slices.Equal(d.Tags, []string{"rule", "lights"}) {
		t.Errorf("the page is %q with the tags %v", d.Name, d.Tags)
	}
	for _, text := range []string{"lamp is seagull", "(light on)", "northern", "Plan of the old harbour", "horn is puffin", "kept by the warden"} {
		s.wantReaders(t, text, people, "ann", "bob", "eve")
	}
	before := page(fog)
	world.Share(lamps, []string{"ann@example.org"}, []string{"staff"})
	world.Label(lamps, "rule")
	world.Move(fog, 0, "Fog horns")
	wantSync(t, s.syncNow(t, y.ID), 3, 3, 0, 0, 0)
	for _, text := range []string{"lamp is seagull", "kept by the warden"} {
		s.wantReaders(t, text, people, "ann", "eve")
	}
	s.wantReaders(t, "horn is puffin", people, "ann", "bob", "eve")
	if d := page(fog); d.ID != before.ID || d.Name != "Fog horns" || before.Name != "Lamps/Fog signals" {
		t.Errorf("before the move it was %s %q, now it is %s %q", before.ID, before.Name, d.ID, d.Name)
	}
	if d := page(lamps); !slices.Equal(d.Tags, []string{"rule"}) {
		t.Errorf("the tags are %v", d.Tags)
	}
	embedded := m.Totals().Texts
	world.Join("staff", "crew")
	world.Join("crew", "bob@example.org")
	if got := s.syncNow(t, y.ID); got.Failed != 0 || m.Totals().Texts != embedded {
		t.Errorf("a change of members: %+v; %d texts were embedded", got, m.Totals().Texts-embedded)
	}
	await(t, 30*time.Second, "the members of now find the page", func(context.Context) error { // they are known a second later
		if got := s.readersOf(t, "lamp is seagull", people); !slices.Equal(got, []string{"ann", "bob"}) {
			return fmt.Errorf("it is found by %v", got)
		}
		return nil
	})
	world.Trash(lamps, true) // with what is below it
	wantSync(t, s.syncNow(t, y.ID), 1, 0, 1, 0, 2)
}

// site is a web site of a few pages.
type site struct {
	*httptest.Server
	mu    sync.Mutex
	pages map[string]string
}

func newSite(t *testing.T, pages map[string]string) *site {
	t.Helper()
	w := &site{pages: pages}
	w.Server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		defer w.mu.Unlock()
		text, there := w.pages[r.URL.Path]
		if !there {
			http.NotFound(out, r)
			return
		}
		out.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = out.Write([]byte("<!DOCTYPE html><html><head><title>Harbour</title></head><body>" + text + "</body></html>"))
	}))
	t.Cleanup(w.Close)
	return w
}

func (w *site) set(path, text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if delete(w.pages, path); text != "" {
		w.pages[path] = text
	}
}

// TestFollowedSite crawls a site again and again: a changed page is a new version, and a page
// that is not there is removed by the second crawl that misses it.
func TestFollowedSite(t *testing.T) {
	t.Parallel()
	w := newSite(t, map[string]string{
		"/":     `<p>The harbour of the old town has two piers. <a href="/lamp">The lamp</a> <a href="/horn">The horn</a></p>`,
		"/lamp": "<p>The keeper of the lamp is called Seagull.</p>", "/horn": "<p>The keeper of the horn is called Puffin.</p>",
	})
	s := startForImports(t)
	y := s.syncEnds(t, s.followPlace(t, client.NewConnection{Type: "crawl", Options: map[string]string{"url": w.URL + "/"}}, client.NewSync{Every: "24h"}))
	wantSync(t, y, 3, 3, 0, 0, 0)
	w.set("/lamp", "<p>The keeper of the lamp is called Heron.</p>")
	w.set("/horn", "")
	wantSync(t, s.syncNow(t, y.ID), 3, 1, 2, 0, 0)
	if d := s.imported(t)[w.URL+"/lamp"]; d.PublishedVersion != 2 {
		t.Errorf("the changed page has version %d", d.PublishedVersion)
	}
	horn := s.imported(t)[w.URL+"/horn"]
	wantSync(t, s.syncNow(t, y.ID), 2, 0, 2, 0, 1)
	s.awaitGone(t, horn.ID)
}
