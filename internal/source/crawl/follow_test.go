package crawl_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/crawl"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
	"github.com/cairn-rag/cairn/internal/source/web"
)

// followed is a site that is crawled again and again.
type followed struct {
	*testing.T
	*site
	start    string
	previous *sourcetest.State
	cursor   string
}

// run crawls the site once, by a new source for each page of the listing.
func (f *followed) run() (objects []source.Object, removed []string, full bool, err error) {
	f.Helper()
	follow := source.Follow{Options: source.Settings{URL: f.URL + f.start}, State: &sourcetest.State{}, Cursor: f.cursor}
	if f.previous != nil {
		follow.Previous = f.previous
	}
	for token := source.TokenAll; ; {
		s := crawl.Follow(follow, web.NewClient(sourcetest.Client(), web.NewPace(1)))
		s.Hurry()
		page, err := s.List(f.Context(), token)
		if err != nil {
			return nil, nil, false, err
		}
		objects = append(objects, page.Objects...)
		for _, key := range page.Removed {
			removed = append(removed, strings.TrimPrefix(key, f.URL))
		}
		if token = page.Next; token == "" {
			f.previous, f.cursor = follow.State.(*sourcetest.State), page.Cursor
			return objects, removed, page.Full, nil
		}
	}
}

// want runs a crawl, and checks its pages, and which it says are gone.
func (f *followed) want(pages, gone []string, wantFull bool) []source.Object {
	f.Helper()
	objects, removed, full, err := f.run()
	if err != nil {
		f.Fatal(err)
	}
	if diff := cmp.Diff(pages, paths(f.site, objects)); diff != "" || !slices.Equal(removed, gone) || full != wantFull {
		f.Errorf("removed %v, want %v; full %v, want %v; (-want +got):\n%s", removed, gone, full, wantFull, diff)
	}
	return objects
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// TestAPageVanishesTwice misses a page, which leads to another one, in two crawls.
func TestAPageVanishesTwice(t *testing.T) {
	t.Parallel()
	f := &followed{T: t, start: "/", site: newSite(t, map[string]string{"/": links("/a", "/b"), "/a": links("/c"), "/b": "<p>b", "/c": "<p>c"})}
	all := []string{"/", "/a", "/b", "/c"}
	before := f.want(all, nil, true)
	f.handle("/a", status(http.StatusNotFound))
	if again := f.want(all, nil, true); !slices.ContainsFunc(again, func(o source.Object) bool { return o.Key == f.URL+"/a" && o.ETag == etagOf(before, o.Key) }) {
		t.Errorf("the page that is missed once is listed as another one: %+v", again)
	}
	f.want([]string{"/", "/b"}, []string{"/a"}, true)
	delete(f.handlers, "/a")
	f.want(all, nil, true)
	f.handle("/b", status(http.StatusNotFound))
	f.want(all, nil, true)
	delete(f.handlers, "/b") // it is there again: the next time counts as the first
	f.want(all, nil, true)
	f.handle("/b", status(http.StatusGone))
	f.want(all, nil, true)
}

func etagOf(objects []source.Object, key string) string {
	for _, o := range objects {
		if o.Key == key {
			return o.ETag
		}
	}
	return ""
}

// TestASiteThatIsDownLosesNothing has a start that does not answer, a page in between that
// does not, and one page for all addresses.
func TestASiteThatIsDownLosesNothing(t *testing.T) {
	t.Parallel()
	f := &followed{T: t, start: "/", site: newSite(t, map[string]string{"/": links("/hub"), "/hub": links("/a", "/b"), "/a": "<p>a", "/b": "<p>b"})}
	all := []string{"/", "/a", "/b", "/hub"}
	f.want(all, nil, true)
	f.handle("/", status(http.StatusServiceUnavailable))
	if _, _, _, err := f.run(); !knowledge.IsCode(err, knowledge.CodeUnavailable) {
		t.Errorf("a site that is down: %v", err)
	}
	delete(f.handlers, "/")
	f.handle("/hub", status(http.StatusInternalServerError))
	for range 2 {
		objects := f.want(all, nil, true)
		at := slices.IndexFunc(objects, func(o source.Object) bool { return o.Key == f.URL+"/hub" })
		s := crawl.Follow(source.Follow{Options: source.Settings{URL: f.URL}, State: f.previous}, web.NewClient(sourcetest.Client(), web.NewPace(1)))
		if _, _, err := s.Open(t.Context(), objects[at], ""); !knowledge.IsCode(err, knowledge.CodeUnavailable) {
			t.Errorf("the page that fails: %v", err)
		}
	}

	many := &followed{T: t, start: "/", site: numbered(t, 30)}
	if _, _, full, err := many.run(); err != nil || !full {
		t.Fatal(full, err)
	}
	for path := range many.pages {
		many.handle(path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte("<p>We are back soon."))
		})
	}
	many.want([]string{"/"}, nil, false)
}

// TestSitemapsSaveRequests has a page whose sitemap says that it has not changed, one of
// which it says that it has, and one of which it says nothing.
func TestSitemapsSaveRequests(t *testing.T) {
	t.Parallel()
	f := &followed{T: t, start: "/", site: newSite(t, map[string]string{"/": links("/d"), "/a": links("/e"), "/b": "<p>b", "/c": "<p>c", "/d": "<p>d", "/e": "<p>e"})}
	list := func(b string) {
		f.xml("/sitemap.xml", urlset+`<url><loc>SITE/a</loc><lastmod>2026-01-01</lastmod></url><url><loc>SITE/b</loc><lastmod>`+b+`</lastmod></url><url><loc>SITE/c</loc></url></urlset>`)
	}
	list("2026-01-01")
	all := []string{"/", "/a", "/b", "/c", "/d", "/e"}
	f.want(all, nil, true)
	list("2026-02-02")
	f.requests = nil
	f.want(all, nil, true)
	for path, want := range map[string]int{"/a": 0, "/b": 1, "/c": 1, "/d": 1, "/e": 1} {
		if got := f.count(path); got != want {
			t.Errorf("%s was requested %d times, want %d", path, got, want)
		}
	}
}
