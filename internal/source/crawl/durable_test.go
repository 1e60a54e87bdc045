package crawl_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

// numbered returns a site whose start links to count pages.
func numbered(t *testing.T, count int) *site {
	pages := map[string]string{}
	var all []string
	for i := range count {
		path := fmt.Sprintf("/%c%c%c", 'a'+i/676, 'a'+i/26%26, 'a'+i%26)
		all = append(all, path)
		pages[path] = "<p>page " + path
	}
	pages["/"] = links(all...)
	return newSite(t, pages)
}

// TestAKilledCrawlGoesOn lists each step by a new source. The first answer of each
// step is lost, half of them before the state was saved.
func TestAKilledCrawlGoesOn(t *testing.T) {
	t.Parallel()
	const count = 250
	s := numbered(t, count)
	state := &sourcetest.State{}
	var objects []source.Object
	steps := 0
	for token := ""; ; steps++ {
		before := state.Copy()
		lost, err := open(request(s.URL, state, nil)).List(t.Context(), token)
		if err != nil {
			t.Fatal(err)
		}
		if steps%2 == 1 {
			state = before
		}
		page, err := open(request(s.URL, state, nil)).List(t.Context(), token)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(lost, page); diff != "" {
			t.Errorf("step %d again (-first +second):\n%s", steps, diff)
		}
		objects = append(objects, page.Objects...)
		if token = page.Next; token == "" {
			break
		}
	}
	if got := len(paths(s, objects)); got != count+1 {
		t.Errorf("got %d pages, want %d", got, count+1)
	}
	if steps < 2 || len(s.requests) > count+3+100 { // robots.txt, sitemap.xml, the start, and one lost step
		t.Errorf("%d steps, %d requests", steps, len(s.requests))
	}
	c := open(request(s.URL, state, nil))
	for _, o := range objects[1:] {
		if text, _ := sourcetest.Read(t, c, o); text != "<p>page "+o.Key[len(s.URL):] {
			t.Errorf("%s: got %q", o.Key, text)
		}
	}
}

func TestACanceledStepLosesNoPage(t *testing.T) {
	t.Parallel()
	s := numbered(t, 50)
	state := &sourcetest.State{}
	ctx, cancel := context.WithCancel(t.Context())
	s.handle("/aaf", func(w http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	page, err := open(request(s.URL, state, nil)).List(ctx, "")
	if err != nil {
		page.Next = ""
	}
	delete(s.handlers, "/aaf")
	objects := page.Objects
	c := open(request(s.URL, state, nil))
	for token := page.Next; ; {
		next, err := c.List(t.Context(), token)
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, next.Objects...)
		if token = next.Next; token == "" {
			break
		}
	}
	if got := len(paths(s, objects)); got != 51 {
		t.Errorf("got %d pages, want 51", got)
	}
}

func TestTheSecondCrawlAsksForChanges(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]string{"/": links("/a", "/b"), "/a": links("/c"), "/b": "<p>b", "/c": "<p>c"})
	first := &sourcetest.State{}
	c := open(request(s.URL, first, nil))
	objects, _ := sourcetest.All(t, func() source.Source { return c })
	known := map[string]string{}
	for _, o := range objects {
		known[o.Key] = o.ETag
	}
	s.pages["/b"] = "<p>b has changed"
	s.requests = nil
	var unchanged atomic.Int64
	s.observe = func(r *http.Request) {
		if r.Header.Get("If-None-Match") != "" {
			unchanged.Add(1)
		}
	}
	second := &sourcetest.State{}
	c = open(request(s.URL, second, first))
	objects, _ = sourcetest.All(t, func() source.Source { return c })
	if diff := cmp.Diff([]string{"/", "/a", "/b", "/c"}, paths(s, objects)); diff != "" || unchanged.Load() != 3 {
		t.Errorf("%d conditional requests; (-want +got):\n%s", unchanged.Load(), diff)
	}
	for _, o := range objects {
		_, _, err := c.Open(t.Context(), o, known[o.Key])
		if changed := o.Key == s.URL+"/b"; errors.Is(err, source.ErrUnchanged) == changed {
			t.Errorf("%s: got error %v", o.Key, err)
		}
		if text, _ := sourcetest.Read(t, c, o); text == "" {
			t.Errorf("%s has no text", o.Key)
		}
	}
	t.Run("and_the_third", func(t *testing.T) {
		if got := crawled(t, s, request(s.URL, &sourcetest.State{}, second)); len(got) != 4 {
			t.Errorf("got %v", got)
		}
	})
}

func TestPoliteness(t *testing.T) {
	t.Parallel()
	t.Run("one_request_at_a_time_with_a_delay", func(t *testing.T) {
		t.Parallel()
		s := numbered(t, 5)
		r := request(s.URL, &sourcetest.State{}, nil)
		r.Options.DelayMS = 60
		crawled(t, s, r)
		wantGaps(t, s, 60*time.Millisecond)
	})
	t.Run("a_longer_crawl_delay_wins", func(t *testing.T) {
		t.Parallel()
		s := numbered(t, 3)
		s.pages["/robots.txt"] = "User-agent: cairn\nCrawl-delay: 0.2\n"
		crawled(t, s, request(s.URL, &sourcetest.State{}, nil))
		wantGaps(t, s, 200*time.Millisecond)
	})
	t.Run("a_host_that_asks_to_wait", func(t *testing.T) {
		t.Parallel()
		s := numbered(t, 5)
		var asked atomic.Int64
		s.handle("/aac", func(w http.ResponseWriter, _ *http.Request) {
			if asked.Add(1) == 1 {
				w.Header().Set("Retry-After", "1")
				w.WriteHeader(http.StatusTooManyRequests)
				return
			}
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<p>at last")
		})
		start := time.Now()
		if got := crawled(t, s, request(s.URL, &sourcetest.State{}, nil)); len(got) != 6 || time.Since(start) < time.Second {
			t.Errorf("got %v after %s", got, time.Since(start))
		}
	})
	t.Run("a_host_that_asks_to_wait_long", func(t *testing.T) {
		t.Parallel()
		s := numbered(t, 1)
		s.handle("/", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", strconv.Itoa(600))
			w.WriteHeader(http.StatusServiceUnavailable)
		})
		c := open(request(s.URL, &sourcetest.State{}, nil))
		for range 2 { // the second time without a request
			_, err := c.List(t.Context(), "")
			if sourcetest.Want(t, err, knowledge.CodeRateLimited, true); knowledge.AsError(err).RetryAfter < 500*time.Second {
				t.Errorf("got error %+v", err)
			}
		}
		if s.count("/") != 1 {
			t.Errorf("the start was requested %d times", s.count("/"))
		}
	})
}

func wantGaps(t *testing.T, s *site, least time.Duration) {
	t.Helper()
	for i := 2; i < len(s.times); i++ { // from robots.txt on, the delay is known
		if gap := s.times[i].Sub(s.times[i-1]); gap < least*3/4 {
			t.Errorf("%s came %s after %s", s.requests[i], gap, s.requests[i-1])
		}
	}
	if s.most != 1 {
		t.Errorf("%d requests at a time", s.most)
	}
}

func TestAPageThatFails(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]string{"/": links("/down", "/flaky", "/a"), "/a": "<p>a"})
	s.handle("/down", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	var asked atomic.Int64
	s.handle("/flaky", func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) < 3 {
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<p>flaky")
	})
	c := open(request(s.URL, &sourcetest.State{}, nil))
	objects, _ := sourcetest.All(t, func() source.Source { return c })
	if diff := cmp.Diff([]string{"/", "/a", "/down", "/flaky"}, paths(s, objects)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for _, o := range objects {
		if o.Key == s.URL+"/down" {
			_, _, err := c.Open(t.Context(), o, "")
			sourcetest.Want(t, err, knowledge.CodeUnavailable, true)
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]string{"/": links("/a"), "/a": links("/b"), "/b": links("/c"), "/c": "<p>c"})
	r := request(s.URL, &sourcetest.State{}, nil)
	r.Options.MaxDepth = 2
	if diff := cmp.Diff([]string{"/", "/a", "/b"}, crawled(t, s, r)); diff != "" {
		t.Errorf("depth (-want +got):\n%s", diff)
	}
	r = request(s.URL, &sourcetest.State{}, nil)
	r.Options.MaxPages = 2
	if diff := cmp.Diff([]string{"/", "/a"}, crawled(t, s, r)); diff != "" {
		t.Errorf("pages (-want +got):\n%s", diff)
	}
}

func TestHostileTokens(t *testing.T) {
	t.Parallel()
	s := numbered(t, 1)
	for _, token := range []string{"x", "1", "-1", "0"} {
		_, err := open(request(s.URL, &sourcetest.State{}, nil)).List(t.Context(), token)
		sourcetest.Want(t, err, knowledge.CodeInvalid, false)
	}
}
