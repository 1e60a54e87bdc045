package notion_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/notion"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

// place is a fake with what opens it.
type place struct {
	*testing.T
	*sourcetest.Notion
	follow source.Follow
	runs   states
}

func newPlace(t *testing.T) *place {
	t.Helper()
	return &place{T: t, Notion: sourcetest.NewNotion(newWorld()), follow: follow()}
}

func (p *place) open() *notion.Source {
	p.Helper()
	p.runs.of(&p.follow)
	s, err := notion.New(p.follow, sourcetest.Local(p))
	if err != nil {
		p.Fatal(err)
	}
	return s
}

// listed is what a run lists.
type listed struct {
	objects map[string]source.Object
	removed []string
	full    bool
}

func (l listed) names() []string {
	names := []string{}
	for _, o := range l.objects {
		names = append(names, o.Name)
	}
	slices.Sort(names)
	return names
}

// list lists the place to its end, as the run after the one before.
func (p *place) list() (l listed, err error) {
	s := p.open()
	l.objects = map[string]source.Object{}
	for token := ""; ; {
		page, err := s.List(p.Context(), token)
		if err != nil {
			return l, err
		}
		for _, o := range page.Objects {
			l.objects[o.Key] = o
		}
		l.removed, l.full = append(l.removed, page.Removed...), page.Full
		if token = page.Next; token == "" {
			p.follow.Cursor = page.Cursor
			return l, nil
		}
	}
}

func (p *place) mustList() listed {
	p.Helper()
	l, err := p.list()
	if err != nil {
		p.Fatal(err)
	}
	return l
}

// want checks the paths that a run lists.
func (p *place) want(l listed, names ...string) {
	p.Helper()
	if got := l.names(); !slices.Equal(got, names) {
		p.Errorf("it lists %q, want %q", got, names)
	}
}

// read reads an object.
func (p *place) read(o source.Object) (string, source.Object, error) {
	r, now, err := p.open().Open(p.Context(), o, "")
	if err != nil {
		return "", now, err
	}
	defer r.Close()
	data, err := io.ReadAll(r)
	return string(data), now, err
}

// TestAnUnchangedWorkspaceCostsFewRequests has more pages than one request lists.
func TestAnUnchangedWorkspaceCostsFewRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t)
		for n := range 400 {
			p.World.Create(0, fmt.Sprint("page ", n), false, "text")
		}
		time.Sleep(time.Hour)
		if l := p.mustList(); len(l.objects) != 400 || !l.full {
			t.Fatalf("it lists %d pages, all of them: %v", len(l.objects), l.full)
		}
		time.Sleep(time.Hour)
		p.Asked()
		l := p.mustList()
		if _, asked := p.Asked(); len(l.objects) != 0 || l.full || asked > 5 {
			t.Errorf("unchanged it lists %d pages by %d requests, all of them: %v", len(l.objects), asked, l.full)
		}
		time.Sleep(6 * time.Hour)
		l = p.mustList()
		if of, asked := p.Asked(); len(l.objects) != 400 || !l.full || of["blocks"] > 0 || asked > 10 {
			t.Errorf("six hours later it lists %d pages by %d requests, all of them: %v", len(l.objects), asked, l.full)
		}
	})
}

// TestTwoEditsInOneMinute has an edit after a page was read, in the minute of the one before.
func TestTwoEditsInOneMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t)
		page := p.World.Create(0, "page", false, "text 1")
		time.Sleep(time.Hour + 10*time.Second)
		p.mustList()
		p.World.Edit(page, "text 2")
		time.Sleep(10 * time.Second)
		first := p.mustList().objects[p.Key(page)]
		text, read, err := p.read(first)
		if err != nil || !strings.Contains(text, "text 2") || read.ETag != first.ETag {
			t.Fatalf("read is %q with the etag %q instead of %q: %v", text, read.ETag, first.ETag, err)
		}
		time.Sleep(20 * time.Second)
		p.World.Edit(page, "text 3")
		time.Sleep(10 * time.Minute)
		second, there := p.mustList().objects[p.Key(page)]
		if text, _, err = p.read(second); !there || err != nil || second.ETag == first.ETag || !strings.Contains(text, "text 3") {
			t.Errorf("listed %v, the etags are %q and %q, read is %q: %v", there, first.ETag, second.ETag, text, err)
		}
		time.Sleep(10 * time.Minute)
		p.want(p.mustList())
	})
}

// TestASearchThatMissesPages has a search that finds one page, then nothing at all: what is in
// pages and tables is found there, and nothing is taken for gone.
func TestASearchThatMissesPages(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t)
		lamps := p.World.Create(0, "Lamps", true, "text")
		north := p.World.Create(lamps, "North", true, "text")
		keepers := p.World.Create(north, "Keepers", true, "about them")
		p.World.Create(keepers, "Ann", false, "text")
		p.Tables = func(id int) bool { return id == keepers }
		all := []string{"Lamps", "Lamps/North", "Lamps/North/Keepers", "Lamps/North/Keepers/Ann"}
		p.Misses = func(id int) bool { return id != lamps }
		p.want(p.mustList(), all...)
		p.Misses = func(int) bool { return true }
		time.Sleep(7 * time.Hour)
		l := p.mustList()
		if p.want(l, all...); !l.full {
			t.Error("it does not list everything")
		}
	})
}

// TestWhatIsGone has pages that are archived, restored, deleted, unshared and moved.
func TestWhatIsGone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t)
		lamps := p.World.Create(0, "Lamps", true, "text")
		p.World.Create(lamps, "North", false, "text")
		horns := p.World.Create(0, "Horns", true, "text")
		south := p.World.Create(horns, "South", false, "text")
		p.Nested = func(id int) bool { return id == south }
		later := func() listed {
			time.Sleep(7 * time.Hour)
			return p.mustList()
		}
		p.want(later(), "Horns", "Horns/South", "Lamps", "Lamps/North")
		p.World.Trash(lamps, true)
		p.want(later(), "Horns", "Horns/South")
		p.World.Trash(lamps, false)
		p.want(later(), "Horns", "Horns/South", "Lamps", "Lamps/North")
		p.Unshared = func(id int) bool { return id == horns }
		p.want(later(), "Lamps", "Lamps/North")
		p.Unshared = func(int) bool { return false }
		p.World.Delete(lamps)
		p.want(later(), "Horns", "Horns/South")
		p.World.Move(south, 0, "South")
		p.want(later(), "Horns", "South")
	})
}

// TestADeletedPage has a page that is deleted and one that is moved, which edits the pages in
// which they were: the next run follows both.
func TestADeletedPage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t)
		p.Edits = true
		lamps := p.World.Create(0, "Lamps", true, "text")
		north := p.World.Create(lamps, "North", true, "text")
		file := p.World.Create(north, "tides.txt", false, "text")
		south := p.World.Create(lamps, "South", false, "text")
		horns := p.World.Create(0, "Horns", true, "text")
		keepers := p.World.Create(lamps, "Keepers", true, "text")
		row := p.World.Create(keepers, "Ann", false, "text")
		p.Attached, p.Tables = func(id int) bool { return id == file }, func(id int) bool { return id == keepers }
		time.Sleep(time.Hour)
		p.mustList()
		want := []string{p.Key(file), p.Key(north), p.Key(row), p.Key(keepers)}
		p.World.Delete(north)
		p.World.Trash(keepers, true)
		p.World.Move(south, horns, "South")
		time.Sleep(time.Hour)
		l := p.mustList()
		if _, moved := l.objects[p.Key(south)]; l.full || !moved || l.objects[p.Key(south)].Name != "Horns/South" {
			t.Errorf("it lists %q", l.names())
		}
		slices.Sort(l.removed)
		if !slices.Equal(l.removed, want) {
			t.Errorf("removed are %q, want %q", l.removed, want)
		}
	})
}

// TestARenamedPageRenamesWhatIsBelow has a page that is renamed, with nothing else.
func TestARenamedPageRenamesWhatIsBelow(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPlace(t)
		lamps := p.World.Create(0, "Lamps", true, "text")
		north := p.World.Create(lamps, "North", false, "text")
		file := p.World.Create(lamps, "tides.txt", false, "text")
		p.Attached = func(id int) bool { return id == file }
		p.World.Label(north, "rule", "lights")
		time.Sleep(time.Hour)
		before := p.mustList()
		p.World.Move(lamps, 0, "Lights / lamps")
		time.Sleep(time.Hour)
		p.Asked()
		l := p.mustList()
		p.want(l, "Lights _ lamps", "Lights _ lamps/North", "Lights _ lamps/tides.txt")
		for _, id := range []int{north, file} {
			if key := p.Key(id); l.objects[key].ETag != before.objects[key].ETag {
				t.Errorf("%s has another etag", key)
			}
		}
		if o := l.objects[p.Key(north)]; !slices.Equal(o.Tags, []string{"lights", "rule"}) || o.Address != "https://www.notion.so/"+strings.ReplaceAll(sourcetest.NotionID(north), "-", "") {
			t.Errorf("the page has the tags %v and the address %s", o.Tags, o.Address)
		}
		if _, asked := p.Asked(); asked > 3 {
			t.Errorf("it asks %d times", asked)
		}
		p.World.Label(north)
		time.Sleep(7 * time.Hour)
		if o := p.mustList().objects[p.Key(north)]; o.Tags == nil || len(o.Tags) > 0 {
			t.Errorf("without tags the page has %#v", o.Tags)
		}
	})
}

// TestScope follows a part of what is shared, and one that is not.
func TestScope(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	lamps := p.World.Create(0, "Lamps", true, "text")
	keepers := p.World.Create(lamps, "Keepers", true, "text")
	p.World.Create(keepers, "Ann", false, "text")
	p.World.Create(0, "Other", false, "text")
	p.Tables = func(id int) bool { return id == keepers }
	p.follow.Scope.Page = "https://www.notion.so/harbour/Lamps-" + strings.ReplaceAll(sourcetest.NotionID(lamps), "-", "") + "?pvs=4"
	p.want(p.mustList(), "Lamps", "Lamps/Keepers", "Lamps/Keepers/Ann")
	p.follow.Scope = source.Scope{Database: sourcetest.NotionDatabase(keepers)}
	p.follow.Cursor = ""
	p.want(p.mustList(), "Keepers", "Keepers/Ann")
	p.Unshared = func(id int) bool { return id == keepers }
	p.follow.Cursor = ""
	if _, err := p.list(); !knowledge.IsCode(err, knowledge.CodeNotFound) || !strings.Contains(err.Error(), "database of the scope") {
		t.Errorf("a database that is not shared: %v", err)
	}
}
