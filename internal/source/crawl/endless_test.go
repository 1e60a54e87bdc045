package crawl_test

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

// TestEndlessSites crawls sites that make up links. Each crawl must end, find the
// real page, and request little else.
func TestEndlessSites(t *testing.T) {
	t.Parallel()
	seed, requests := rand.Uint64(), atomic.Uint64{}
	t.Logf("seed %x", seed)
	word := func() uint64 { return rand.NewPCG(seed, requests.Add(1)).Uint64() } // may be called by several requests at once
	for name, c := range map[string]struct {
		page func(r *http.Request) string
		most int // pages
	}{
		"a_calendar": {func(r *http.Request) string {
			var year, month int
			_, _ = fmt.Sscanf(r.URL.Path, "/calendar/%d/%d", &year, &month) // zero on the first page
			return links(fmt.Sprintf("/calendar/%d/%d", year, month+1), fmt.Sprintf("/calendar/%d/1", year+1))
		}, 110},
		"a_path_that_grows":   {func(*http.Request) string { return links("sub/", "other/sub/") }, 20},
		"filters":             {func(*http.Request) string { return links(fmt.Sprintf("?a=%x&b=%x", word(), word())) }, 105},
		"sessions":            {func(*http.Request) string { return links(fmt.Sprintf("/page?sid=%x", word())) }, 5},
		"sessions_in_paths":   {func(*http.Request) string { return links(fmt.Sprintf("/page;jsessionid=%x", word())) }, 5},
		"the_same_everywhere": {func(*http.Request) string { return `<script>/* no canonical */</script><a href="x/"></a>` }, 3},
		"long_addresses":      {func(r *http.Request) string { return links(r.URL.Path + "and-a-rather-long-name-of-a-folder") }, 60},
		"random_names": {func(*http.Request) string {
			return links(fmt.Sprintf("/%x", word()), fmt.Sprintf("/%x", word()))
		}, 300},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, map[string]string{"/real": "<p>real"})
			s.fallback = func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/html")
				fmt.Fprint(w, c.page(r), `<a href="/real">real</a>`)
			}
			r := request(s.URL, &sourcetest.State{}, nil)
			r.Options.MaxPages = 300
			got := crawled(t, s, r)
			real := 0
			for _, path := range got {
				if path == "/real" {
					real++
				}
			}
			if real != 1 || len(got) > c.most {
				t.Errorf("%d pages, want at most %d; the real page %d times", len(got), c.most, real)
			}
			t.Logf("%d pages, %d requests", len(got), len(s.requests))
		})
	}
}
