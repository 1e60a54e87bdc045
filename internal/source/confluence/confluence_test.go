package confluence_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/confluence"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

// newWorld returns a world of pages that ann, bob and the members of a group see.
func newWorld() *sourcetest.World {
	world := sourcetest.NewWorld("ann@example.org")
	world.Pages, world.Members = true, map[string][]string{"staff": {"eve@example.org", "zoe@example.org"}}
	world.Share(0, []string{"bob@example.org"}, []string{"staff"})
	return world
}

// follow returns what opens a fake.
func follow(fake *sourcetest.Confluence) source.Follow {
	f := source.Follow{Type: source.TypeConfluence, Options: source.Settings{URL: "http://wiki.test" + fake.Base}, Credentials: sourcetest.ConfluenceSecret, Scope: source.Scope{Space: fake.Space}}
	if fake.Cloud {
		f.Options.Username = sourcetest.ConfluenceUser
	}
	return f
}

// bodyOf returns what stands in the page that was delivered, or an attachment as it is.
func bodyOf(delivered string) string {
	if _, after, page := strings.Cut(delivered, "<main>"); page {
		body, _, _ := strings.Cut(after, "</main>")
		return body
	}
	return delivered
}

func TestFollow(t *testing.T) {
	t.Parallel()
	scripts := 10_000
	if testing.Short() {
		scripts = 400
	}
	for _, product := range []struct {
		name  string
		cloud bool
	}{{"cloud", true}, {"data center", false}} {
		t.Run(product.name, func(t *testing.T) {
			t.Parallel()
			sourcetest.Follow(t, scripts/2, func(mirror bool) sourcetest.Place {
				fake := sourcetest.NewConfluence(newWorld(), product.cloud)
				fake.Attached, fake.Lag = func(id int) bool { return id%3 == 0 }, 2*time.Minute
				return sourcetest.Place{
					World: fake.World, Handler: fake, Mirrors: mirror, Labels: true, Slow: confluence.Slow, Body: bodyOf, Rest: 7 * time.Hour,
					Open: func(client *http.Client, cursor string) (source.Source, error) {
						f := follow(fake)
						f.Mirror, f.Cursor, f.PageSize = mirror, cursor, 3
						return confluence.New(f, client)
					},
					Key: func(id int) string {
						if i, _ := fake.World.Item(id); fake.Attached(id) && !i.Folder && i.Parent != 0 {
							return "id:att" + strconv.Itoa(id)
						}
						return "id:" + strconv.Itoa(id)
					},
				}
			})
		})
	}
}

// place is a fake with what opens it.
type place struct {
	*testing.T
	*sourcetest.Confluence
	follow source.Follow
}

func newPlace(t *testing.T, cloud, mirror bool) *place {
	t.Helper()
	fake := sourcetest.NewConfluence(newWorld(), cloud)
	p := &place{t, fake, follow(fake)}
	p.follow.Mirror = mirror
	return p
}

// list lists the place to its end, as the run after the one before.
func (p *place) list() (objects map[string]source.Object, last source.Page, err error) {
	s, err := confluence.New(p.follow, sourcetest.Local(p))
	objects = map[string]source.Object{}
	for token := ""; err == nil; token = last.Next {
		if last, err = s.List(p.Context(), token); err != nil {
			break
		}
		for _, o := range last.Objects {
			objects[o.Key] = o
		}
		if last.Next == "" {
			p.follow.Cursor = last.Cursor
			break
		}
	}
	return objects, last, err
}

func (p *place) mustList() (map[string]source.Object, source.Page) {
	p.Helper()
	objects, last, err := p.list()
	if err != nil {
		p.Fatal(err)
	}
	return objects, last
}

// TestAnUnchangedSpaceCostsFewRequests has more pages than one request lists.
func TestAnUnchangedSpaceCostsFewRequests(t *testing.T) {
	t.Parallel()
	for _, cloud := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			p := newPlace(t, cloud, false)
			for n := range 400 {
				p.World.Create(0, fmt.Sprint("page ", n), false, "text")
			}
			time.Sleep(time.Hour)
			if got, last := p.mustList(); len(got) != 400 || !last.Full {
				t.Fatalf("it lists %d pages, all of them: %v", len(got), last.Full)
			}
			time.Sleep(time.Hour)
			p.Asked = 0
			if got, last := p.mustList(); len(got) != 0 || last.Full || p.Asked > 5 {
				t.Errorf("unchanged it lists %d pages by %d requests, all of them: %v", len(got), p.Asked, last.Full)
			}
			time.Sleep(6 * time.Hour)
			if got, last := p.mustList(); len(got) != 400 || !last.Full {
				t.Errorf("six hours later it lists %d pages, all of them: %v", len(got), last.Full)
			}
		})
	}
}

// TestAnEmptyIndexRemovesNothing has a search that finds nothing, three times more than it is
// believed.
func TestAnEmptyIndexRemovesNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t, true, true)
	for n := range 30 {
		p.World.Create(0, fmt.Sprint("page ", n), false, "text")
	}
	p.mustList()
	p.Gone = true
	for range 3 {
		if got, last := p.mustList(); len(got) != 0 || last.Full {
			t.Errorf("it lists %d pages, and believes it: %v", len(got), last.Full)
		}
	}
	if _, last := p.mustList(); !last.Full {
		t.Error("the fourth listing is not believed")
	}
}

// TestRightsWithoutNames has accounts whose mail addresses the cloud hides, a space that
// everybody sees, and pages that are restricted in both.
func TestRightsWithoutNames(t *testing.T) {
	t.Parallel()
	p := newPlace(t, true, true)
	p.Mails = false
	open := p.World.Create(0, "Open", true, "text")
	closed := p.World.Create(open, "Closed", true, "text")
	below := p.World.Create(closed, "Below", false, "text")
	p.World.Share(closed, []string{"eve@example.org", "mallory@example.org"}, nil)
	p.World.Share(below, nil, []string{"staff"})
	access := func(id int) knowledge.Access {
		t.Helper()
		list, _ := p.mustList()
		return *list["id:"+strconv.Itoa(id)].Access
	}
	want := func(id int, want knowledge.Access) {
		t.Helper()
		if diff := cmp.Diff(want, access(id), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%d (-want +got):\n%s", id, diff)
		}
	}
	eve := knowledge.Access{Users: []string{"eve@example.org"}} // mallory does not see the space
	want(open, knowledge.Access{Users: []string{"ann@example.org", "bob@example.org"}, Groups: []string{"staff"}})
	want(closed, eve)
	want(below, eve)
	p.Public = true
	want(open, knowledge.Access{Workspace: true})
	want(closed, knowledge.Access{Users: []string{"eve@example.org", "mallory@example.org"}})
	want(below, eve)
}

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

// TestAPageIsRemovedDuringAListing removes a page that was listed before the others are. A
// data center then skips one, which must not be taken for gone.
func TestAPageIsRemovedDuringAListing(t *testing.T) {
	t.Parallel()
	for _, cloud := range []bool{true, false} {
		p := newPlace(t, cloud, true)
		var ids []int
		for n := range 10 {
			ids = append(ids, p.World.Create(0, fmt.Sprint("page ", n), false, "text"))
		}
		p.follow.PageSize = 3
		s, err := confluence.New(p.follow, sourcetest.Local(p))
		if err != nil {
			t.Fatal(err)
		}
		listed := map[string]bool{}
		for token, removed := "", false; ; removed = true {
			page, err := s.List(t.Context(), token)
			if err != nil {
				t.Fatal(err)
			}
			for _, o := range page.Objects {
				listed[o.Key] = true
			}
			if !removed {
				p.World.Delete(ids[0])
			}
			if token = page.Next; token == "" {
				if skipped := len(listed) < len(ids); skipped == page.Full {
					t.Errorf("cloud %v: of %d pages %d are listed, all of them: %v", cloud, len(ids), len(listed), page.Full)
				}
				p.follow.Cursor = page.Cursor
				break
			}
		}
		if got, last := p.mustList(); len(got) != len(ids)-1 || !last.Full {
			t.Errorf("cloud %v: the next run lists %d pages, all of them: %v", cloud, len(got), last.Full)
		}
	}
}
