package confluence_test

import (
	"fmt"
	"strconv"
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
	want(open, knowledge.Access{Users: []string{"ann@example.org", "bob@example.org"}, Groups: []string{"confluence:c1:group staff"}})
	want(closed, eve)
	want(below, eve)
	p.Public = true
	want(open, knowledge.Access{Workspace: true})
	want(closed, knowledge.Access{Users: []string{"eve@example.org", "mallory@example.org"}})
	want(below, eve)
}

// TestPagesAreRemovedDuringAListing removes pages that were listed before the others are. A
// data center then skips one, which must not be taken for gone.
func TestPagesAreRemovedDuringAListing(t *testing.T) {
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
				p.World.Delete(ids[1])
			}
			if token = page.Next; token == "" {
				if skipped := len(listed) < len(ids); skipped == cloud || page.Full != cloud {
					t.Errorf("cloud %v: of %d pages %d are listed, all of them: %v", cloud, len(ids), len(listed), page.Full)
				}
				p.follow.Cursor = page.Cursor
				break
			}
		}
		if got, last := p.mustList(); len(got) != len(ids)-2 || !last.Full {
			t.Errorf("cloud %v: the next run lists %d pages, all of them: %v", cloud, len(got), last.Full)
		}
	}
}

// TestWhatTheSearchFindsLate has a change that the search does not find yet when a run looks
// for it.
func TestWhatTheSearchFindsLate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t, true, false)
		page := p.World.Create(0, "page", false, "text")
		p.Lag = 20 * time.Minute
		time.Sleep(time.Hour)
		p.mustList()
		p.World.Edit(page, "another text")
		time.Sleep(10 * time.Minute)
		if got, _ := p.mustList(); len(got) != 0 {
			t.Fatalf("the search finds %v at once", got)
		}
		time.Sleep(15 * time.Minute)
		if got, last := p.mustList(); len(got) != 1 || last.Full {
			t.Errorf("the change is not listed: %v, all pages: %v", got, last.Full)
		}
	})
}

// TestArchivedAndMovedPages has a page that is archived after it was modified, and one that is
// moved to another space.
func TestArchivedAndMovedPages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t, false, false)
		old := p.World.Create(0, "Old", false, "text")
		moved := p.World.Create(0, "Moved", false, "text")
		time.Sleep(time.Hour)
		if got, _ := p.mustList(); len(got) != 2 || got["id:"+strconv.Itoa(moved)].Name != "Moved" {
			t.Fatalf("it lists %v", got)
		}
		p.World.Edit(old, "another text")
		p.World.Trash(old, true)
		p.Archives = true
		if got, last := p.mustList(); len(got) != 0 || len(last.Removed) != 1 || last.Removed[0] != "id:"+strconv.Itoa(old) {
			t.Errorf("the archived page: %v are listed, %v removed", got, last.Removed)
		}
		p.Elsewhere = func(id int) bool { return id == moved }
		time.Sleep(7 * time.Hour)
		if got, last := p.mustList(); len(got) != 0 || !last.Full {
			t.Errorf("in the space are %v", got)
		}
		p.follow.Scope.Space = ""
		time.Sleep(7 * time.Hour)
		if got, _ := p.mustList(); len(got) != 1 || got["id:"+strconv.Itoa(moved)].Name != "ELSE/Moved" {
			t.Errorf("in all spaces are %v", got)
		}
	})
}
