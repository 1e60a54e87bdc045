package crawl_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/crawl"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
	"github.com/cairn-rag/cairn/internal/source/web"
)

// site is a web site. Paths without a handler or page do not exist.
type site struct {
	URL      string
	mu       sync.Mutex
	pages    map[string]string // HTML by path and query
	handlers map[string]http.HandlerFunc
	fallback http.HandlerFunc    // for all other paths, nil = they do not exist
	observe  func(*http.Request) // nil = nothing
	requests []string
	times    []time.Time
	current  int
	most     int // requests at the same time
}

func newSite(t *testing.T, pages map[string]string) *site {
	t.Helper()
	s := &site{pages: pages, handlers: map[string]http.HandlerFunc{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.URL = server.URL
	return s
}

// ServeHTTP implements http.Handler. "SITE" in a page stands for the address of
// the site.
func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.requests = append(s.requests, r.URL.RequestURI())
	s.times = append(s.times, time.Now())
	s.current++
	s.most = max(s.most, s.current)
	page, found := s.pages[r.URL.RequestURI()]
	handler := s.handlers[r.URL.Path]
	s.mu.Unlock()
	if s.observe != nil {
		s.observe(r)
	}
	defer func() {
		s.mu.Lock()
		s.current--
		s.mu.Unlock()
	}()
	switch {
	case handler != nil:
		handler(w, r)
	case found:
		s.serve(w, r, page)
	case s.fallback != nil && r.URL.Path != "/robots.txt" && r.URL.Path != "/sitemap.xml":
		s.fallback(w, r)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func (s *site) serve(w http.ResponseWriter, r *http.Request, page string) {
	page = strings.ReplaceAll(page, "SITE", s.URL)
	tag := fmt.Sprintf(`"%x"`, page)
	w.Header().Set("ETag", tag[:min(len(tag), 40)]+`"`)
	if r.Header.Get("If-None-Match") == w.Header().Get("ETag") {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	if strings.HasPrefix(page, "<") {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
	}
	fmt.Fprint(w, page)
}

func (s *site) handle(path string, handler http.HandlerFunc) { s.handlers[path] = handler }

// count returns the number of requests for a path and query.
func (s *site) count(uri string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	count := 0
	for _, r := range s.requests {
		if r == uri {
			count++
		}
	}
	return count
}

func request(uri string, state, previous source.State) source.Request {
	r := source.Request{Spec: source.Spec{URI: uri, Options: source.Options{DelayMS: 1}}, State: state}
	if previous != nil {
		r.Previous = previous
	}
	return r
}

func open(r source.Request) *crawl.Source {
	return crawl.New(r, web.NewClient(sourcetest.Client(), web.NewPace(1)))
}

// crawled returns the paths of the pages of a site, sorted.
func crawled(t *testing.T, s *site, r source.Request) []string {
	t.Helper()
	c := open(r)
	objects, _ := sourcetest.All(t, func() source.Source { return c })
	return paths(s, objects)
}

func paths(s *site, objects []source.Object) []string {
	var found []string
	for _, o := range objects {
		found = append(found, strings.TrimPrefix(o.Key, s.URL))
	}
	slices.Sort(found)
	return found
}

// links returns a page with links.
func links(addresses ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "<html><body><p>%d links, the first to %v", len(addresses), addresses)
	for _, a := range addresses {
		fmt.Fprintf(&b, `<a href="%s">x</a>`, a)
	}
	return b.String()
}
