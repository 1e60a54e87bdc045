package crawl_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/crawl"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

func wantPages(t *testing.T, s *site, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, crawled(t, s, request(s.URL, &sourcetest.State{}, nil))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLinks(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]string{
		"/": links("/a", "b/", "SITE/c?x=1&y=2", "#top", "mailto:x@y", "javascript:void(0)", "https://elsewhere.example/", "//elsewhere.example/x",
			"/a#part", "/a?utm_source=x", "/c?y=2&x=1", "/missing", "/image.PNG", "/style.css", "http://u:p@elsewhere.example/"),
		"/a":         `<base href="/base/"><a href="d">d</a><area href="e">`,
		"/b/":        `<iframe src="/frame"></iframe><meta http-equiv="refresh" content="3; url='/f'">`,
		"/c?x=1&y=2": links("/"),
		"/base/d":    "<p>d", "/base/e": "<p>e", "/frame": "<p>frame", "/f": "<p>f",
	})
	wantPages(t, s, "/", "/a", "/b/", "/base/d", "/base/e", "/c?x=1&y=2", "/f", "/frame")
	for uri, want := range map[string]int{"/": 1, "/a": 1, "/c?x=1&y=2": 1, "/missing": 1, "/image.PNG": 0, "/robots.txt": 1, "/sitemap.xml": 1} {
		if got := s.count(uri); got != want {
			t.Errorf("%s was requested %d times, want %d", uri, got, want)
		}
	}
}

func TestPagesAreReadAsTheyWereListed(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]string{"/": links("/a", "/doc"), "/a": "<p>text of a"})
	s.handle("/doc", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/pdf")
		fmt.Fprint(w, "%PDF-")
	})
	c := open(request(s.URL, &sourcetest.State{}, nil))
	objects, _ := sourcetest.All(t, func() source.Source { return c })
	for _, o := range objects {
		switch o.Key {
		case s.URL + "/a":
			text, read := sourcetest.Read(t, c, o)
			if text != "<p>text of a" || !cmp.Equal(read, o) || o.MediaType != "text/html; charset=utf-8" || o.Bytes != 12 || o.Address != o.Key {
				t.Errorf("got %q as %+v, listed as %+v", text, read, o)
			}
			if _, _, err := c.Open(t.Context(), o, o.ETag); !errors.Is(err, source.ErrUnchanged) {
				t.Errorf("got error %v, want unchanged", err)
			}
		case s.URL + "/doc":
			if text, read := sourcetest.Read(t, c, o); text != "%PDF-" || read.MediaType != "application/pdf" {
				t.Errorf("got %q as %+v", text, read)
			}
		}
	}
	if s.count("/a") != 1 || len(objects) != 3 {
		t.Errorf("%d objects, /a requested %d times", len(objects), s.count("/a"))
	}
}

func TestPagesThatSayNo(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]string{
		"/robots.txt":    "User-agent: *\nDisallow: /secret\nAllow: /secret/open\nUnknown: x\nCrawl-delay: soon\n\nUser-agent: other\nDisallow: /\n",
		"/":              links("/secret/x", "/secret/open", "/hidden", "/dead-end", "/polite", "/print?id=1", "/header"),
		"/secret/x":      "<p>secret",
		"/secret/open":   "<p>open",
		"/hidden":        `<meta name="ROBOTS" content="NOINDEX"><a href="/behind-hidden">`,
		"/behind-hidden": "<p>behind",
		"/dead-end":      `<meta name="robots" content="nofollow"><a href="/behind-dead-end">`,
		"/polite":        `<a rel="external NoFollow" href="/not-followed">`,
		"/print?id=1":    `<link rel="canonical" href="/article"><p>the article`,
		"/article":       "<p>never fetched",
	})
	s.handle("/header", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Add("X-Robots-Tag", "otherbot: nofollow")
		w.Header().Add("X-Robots-Tag", "noindex")
		fmt.Fprint(w, links("/behind-header"))
	})
	s.pages["/behind-header"] = "<p>behind header"
	wantPages(t, s, "/", "/article", "/behind-header", "/behind-hidden", "/dead-end", "/polite", "/secret/open")
	for _, uri := range []string{"/secret/x", "/behind-dead-end", "/not-followed", "/article"} {
		if s.count(uri) != 0 {
			t.Errorf("%s was requested", uri)
		}
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]string{
		"/robots.txt": "User-agent: *\nDisallow: /secret\n",
		"/":           links("/old", "/older", "/away", "/inside", "/circle", "/to-secret"),
		"/new":        "<p>new", "/secret": "<p>secret",
	})
	for from, to := range map[string]string{
		"/old": "/new", "/older": "/old", "/away": "https://elsewhere.example/", "/inside": "http://10.0.0.1/", "/circle": "/circle", "/to-secret": "/secret",
	} {
		s.handle(from, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) })
	}
	wantPages(t, s, "/", "/new")
	if s.count("/secret") != 0 {
		t.Error("a page that robots.txt forbids was requested")
	}
}

func TestStart(t *testing.T) {
	t.Parallel()
	status := func(code int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
	}
	redirect := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
	}
	robots := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
	}
	for name, c := range map[string]struct {
		handlers  map[string]http.HandlerFunc
		code      knowledge.Code
		retryable bool
	}{
		"missing":                {nil, knowledge.CodeNotFound, false},
		"refused":                {map[string]http.HandlerFunc{"/": status(403)}, knowledge.CodeForbidden, false},
		"down":                   {map[string]http.HandlerFunc{"/": status(503)}, knowledge.CodeUnavailable, true},
		"robots_down":            {map[string]http.HandlerFunc{"/robots.txt": status(500)}, knowledge.CodeUnavailable, true},
		"robots_forbid":          {map[string]http.HandlerFunc{"/robots.txt": robots("User-agent: Cairn\nDisallow: /")}, knowledge.CodeForbidden, false},
		"redirect_to_private":    {map[string]http.HandlerFunc{"/": redirect("http://10.0.0.1/")}, knowledge.CodeInvalid, false},
		"redirect_to_metadata":   {map[string]http.HandlerFunc{"/": redirect("http://169.254.169.254/latest/meta-data/")}, knowledge.CodeInvalid, false},
		"neither_page_nor_other": {map[string]http.HandlerFunc{"/": robots("plain text")}, knowledge.CodeInvalid, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, nil)
			for path, handler := range c.handlers {
				s.handle(path, handler)
			}
			_, err := open(request(s.URL, &sourcetest.State{}, nil)).List(t.Context(), "")
			sourcetest.Want(t, err, c.code, c.retryable)
		})
	}
	t.Run("on_another_host_that_forbids_it", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, map[string]string{"/": "<p>no", "/robots.txt": "User-agent: *\nDisallow: /"})
		other := newSite(t, nil)
		other.handle("/", redirect(s.URL+"/"))
		_, err := open(request(other.URL, &sourcetest.State{}, nil)).List(t.Context(), "")
		sourcetest.Want(t, err, knowledge.CodeForbidden, false)
	})
	t.Run("on_another_host", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, map[string]string{"/": links("/a"), "/a": "<p>a"})
		other := newSite(t, nil)
		other.handle("/", redirect(s.URL+"/"))
		if diff := cmp.Diff([]string{"/", "/a"}, crawled(t, s, request(other.URL, &sourcetest.State{}, nil))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, spec := range []source.Spec{
		{URI: ""}, {URI: "example.org"}, {URI: "ftp://example.org"}, {URI: "https://u:p@example.org"},
		{URI: "https://example.org", Options: source.Options{MaxPages: 1_000_000}}, {URI: "https://example.org", Options: source.Options{DelayMS: 1_000_000}},
	} {
		if err := crawl.Check(spec); !knowledge.IsCode(err, knowledge.CodeInvalid) {
			t.Errorf("%+v: got error %v", spec, err)
		}
	}
	if err := crawl.Check(source.Spec{URI: "https://example.org/docs/", Options: source.Options{MaxPages: 10, MaxDepth: 2, DelayMS: 100}}); err != nil {
		t.Error(err)
	}
}
