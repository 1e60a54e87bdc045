package sharepoint_test

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/sharepoint"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

// follow returns what follows the library of a fake.
func follow(g *sourcetest.MSGraph, scope source.Scope) source.Follow {
	return source.Follow{
		Options: source.Settings{URL: "http://graph.test", Tenant: sourcetest.MSTenant, ClientID: sourcetest.MSClient}, Credentials: g.Secret, Scope: scope,
	}
}

func library() source.Scope { return source.Scope{Drive: sourcetest.MSDrive} }

func TestFollow(t *testing.T) {
	t.Parallel()
	sourcetest.Follow(t, sourcetest.Scripts(), func(mirror bool) sourcetest.Place {
		fake := sourcetest.NewMSGraph(sourcetest.NewWorld("ann@example.org"))
		fake.Uses, fake.Lags = 40, true
		return sourcetest.Place{
			World: fake.World, Handler: fake, Mirrors: mirror, Nested: true, Expire: fake.Expire,
			Open: func(client *http.Client, cursor string) (source.Source, error) {
				f := follow(fake, library())
				f.Mirror, f.Cursor, f.PageSize = mirror, cursor, 3
				return sharepoint.OneByOne(sharepoint.New(f, client))
			},
			Key: func(id int) string { return sourcetest.MSDrive + "/01ITEM" + strconv.Itoa(id) },
		}
	})
}

// listing is a listing from its first page to its last one.
type listing struct {
	objects map[string]source.Object // by their paths
	removed []string
	cursor  string
	full    bool
}

// list lists a place of a fake, and the error of its first page.
func list(t *testing.T, g *sourcetest.MSGraph, f source.Follow) (l listing, err error) {
	t.Helper()
	l.objects = map[string]source.Object{}
	for token := ""; ; {
		page, err := open(t, g, f).List(t.Context(), token)
		if err != nil {
			return l, err
		}
		for _, o := range page.Objects {
			l.objects[o.Path()] = o
		}
		l.removed = append(l.removed, page.Removed...)
		if token = page.Next; token == "" {
			l.cursor, l.full = page.Cursor, page.Full
			return l, nil
		}
	}
}

func mustList(t *testing.T, g *sourcetest.MSGraph, f source.Follow) listing {
	t.Helper()
	l, err := list(t, g, f)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func open(t *testing.T, g *sourcetest.MSGraph, f source.Follow) source.Source {
	t.Helper()
	s, err := sharepoint.New(f, sourcetest.Local(g))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func paths(l listing) map[string]bool {
	found := map[string]bool{}
	for path := range l.objects {
		found[path] = true
	}
	return found
}

func want(t *testing.T, l listing, expected ...string) {
	t.Helper()
	all := map[string]bool{}
	for _, path := range expected {
		all[path] = true
	}
	if diff := cmp.Diff(all, paths(l)); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
}

// TestFolder follows a folder: a file that is moved out of it is removed, and one that is moved
// into it is listed.
func TestFolder(t *testing.T) {
	t.Parallel()
	g := sourcetest.NewMSGraph(sourcetest.NewWorld("ann@example.org"))
	folder := g.World.Create(0, "Contracts: old", true, "")
	inner := g.World.Create(folder, "2026", true, "")
	a := g.World.Create(inner, "a.txt", false, "a")
	b := g.World.Create(0, "b.txt", false, "b")
	for _, scope := range []source.Scope{
		{Drive: sourcetest.MSDrive, Folder: "/Contracts: old/"}, {Drive: "ann@example.org", Folder: "Contracts: old"},
		{Site: "http://graph.test/sites/legal", Folder: "Contracts: old"}, {Site: "contoso.sharepoint.test,site,web", Drive: "dokumente", Folder: "Contracts: old"},
	} {
		g.World.Move(a, inner, "a.txt")
		g.World.Move(b, 0, "b.txt")
		f := follow(g, scope)
		first := mustList(t, g, f)
		want(t, first, "2026/a.txt")
		g.World.Move(a, 0, "moved.txt")
		g.World.Move(b, inner, "b.txt")
		f.Cursor = first.cursor
		next := mustList(t, g, f)
		want(t, next, "2026/b.txt")
		if !strings.Contains(strings.Join(next.removed, " "), first.objects["2026/a.txt"].Key) || next.full {
			t.Errorf("removed are %v, full %t", next.removed, next.full)
		}
	}
	if _, err := list(t, g, follow(g, source.Scope{Drive: sourcetest.MSDrive, Folder: "none"})); !knowledge.IsCode(err, knowledge.CodeNotFound) || !strings.Contains(err.Error(), `"none"`) {
		t.Errorf("a folder that is not there: %v", err)
	}
	if _, err := list(t, g, follow(g, source.Scope{Site: "http://graph.test/sites/none"})); !knowledge.IsCode(err, knowledge.CodeNotFound) || !strings.Contains(err.Error(), "sites/none") {
		t.Errorf("a site that is not there: %v", err)
	}
}

// TestSite follows a whole site: its library, its pages and its lists.
func TestSite(t *testing.T) {
	t.Parallel()
	g := sourcetest.NewMSGraph(sourcetest.NewWorld("ann@example.org"))
	g.Pages = sourcetest.NewWorld("ann@example.org")
	g.Lists = []sourcetest.MSList{{ID: "l1", Name: "Holidays", Columns: []string{"Day", "Note"}, Rows: [][]string{{"1 May", "closed, all day"}, {"24 Dec"}}}}
	g.World.Create(0, "a.txt", false, "a")
	page := g.Pages.Create(0, "Home.aspx", false, "The lighthouse is lit.")
	draft := g.Pages.Create(0, "Plan.aspx", false, "draft of a plan")
	f := follow(g, source.Scope{Site: "http://graph.test/sites/legal"})
	first := mustList(t, g, f)
	want(t, first, "Dokumente/a.txt", "Websiteseiten/Home.html", "Websiteseiten/Plan.html", "Lists/Holidays.csv")
	s := open(t, g, f)
	if text, _ := sourcetest.Read(t, s, first.objects["Websiteseiten/Home.html"]); !strings.Contains(text, "<h1>Home &amp; more</h1>") || !strings.Contains(text, "<p>The lighthouse is lit.</p>") {
		t.Errorf("the page is %s", text)
	}
	if _, _, err := s.Open(t.Context(), first.objects["Websiteseiten/Plan.html"], ""); !knowledge.IsCode(err, knowledge.CodeConflict) {
		t.Errorf("a draft: %v", err)
	}
	text, read := sourcetest.Read(t, s, first.objects["Lists/Holidays.csv"])
	if text != "Day,Note\n1 May,\"closed, all day\"\n24 Dec,\n" || read.ETag != first.objects["Lists/Holidays.csv"].ETag {
		t.Errorf("the list is %q", text)
	}
	if _, _, err := s.Open(t.Context(), read, read.ETag); !errors.Is(err, source.ErrUnchanged) {
		t.Errorf("the same list: %v", err)
	}
	g.Pages.Edit(page, "The lighthouse is dark.")
	g.Pages.Edit(draft, "The plan.")
	g.Lists[0].Rows[1] = []string{"24 Dec", "open until noon"}
	f.Cursor = first.cursor
	next := mustList(t, g, f)
	want(t, next, "Websiteseiten/Home.html", "Websiteseiten/Plan.html", "Lists/Holidays.csv")
	if next.full || next.objects["Lists/Holidays.csv"].ETag == read.ETag {
		t.Errorf("full %t, the list has the etag %s", next.full, next.objects["Lists/Holidays.csv"].ETag)
	}
	g.Lists = nil
	f.Cursor = next.cursor
	if last := mustList(t, g, f); !last.full || len(last.objects) != 3 {
		t.Errorf("without the list: full %t, %v", last.full, paths(last))
	}
}

// TestRename has a change that is none of the bytes: the etag stays, and with it nothing is
// read. The address stays too, which the document has its id of.
func TestRename(t *testing.T) {
	t.Parallel()
	g := sourcetest.NewMSGraph(sourcetest.NewWorld("ann@example.org"))
	for range 3 { // with a hash, and without one
		id := g.World.Create(0, "a.txt", false, "a")
		f := follow(g, library())
		first := mustList(t, g, f)
		f.Cursor = first.cursor
		before, _ := g.World.Item(id)
		g.World.Move(id, 0, "renamed.txt")
		after := mustList(t, g, f)
		o, there := after.objects["renamed.txt"]
		if !there || o.ETag != first.objects[before.Name].ETag || o.ETag == "" || o.Address != first.objects[before.Name].Address || after.full {
			t.Errorf("after the rename it is %+v, was %+v", o, first.objects[before.Name])
		}
		if _, _, err := open(t, g, f).Open(t.Context(), o, o.ETag); !errors.Is(err, source.ErrUnchanged) {
			t.Errorf("it is read: %v", err)
		}
		g.World.Delete(id)
	}
}

// TestUnchangedDrive counts the requests of a run of a large drive in which nothing has
// changed.
func TestUnchangedDrive(t *testing.T) {
	t.Parallel()
	g := sourcetest.NewMSGraph(sourcetest.NewWorld("ann@example.org"))
	for n := range 1000 {
		g.World.Create(0, strconv.Itoa(n)+".txt", false, "text")
	}
	f := follow(g, library())
	for _, mirror := range []bool{false, true} {
		f.Mirror, f.Cursor = mirror, ""
		f.Cursor = mustList(t, g, f).cursor
		g.Asked()
		if l := mustList(t, g, f); len(l.objects) != 0 || l.full {
			t.Errorf("listed %v, full %t", paths(l), l.full)
		}
		if asked := g.Asked(); asked > 5 {
			t.Errorf("mirror %t: it sent %d requests", mirror, asked)
		}
	}
}
