package crawl_test

import (
	"net/url"
	"runtime"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/source/crawl"
)

// TestListingsTakeLittleMemory reads pages and sitemaps that would take a hundred times their
// size as open elements or as attributes. It measures the whole process, so it runs alone.
func TestListingsTakeLittleMemory(t *testing.T) {
	address, err := url.Parse("http://site.example/")
	if err != nil {
		t.Fatal(err)
	}
	const size = 3 << 20
	for behaviour, listing := range map[string]string{
		"a sitemap of nested elements":                    "<urlset>" + strings.Repeat("<a>", size/3),
		"an address of nested elements":                   "<urlset><url><loc>" + strings.Repeat("<a>", size/3),
		"a sitemap whose element has a lot of attributes": "<urlset " + strings.Repeat("a ", size/2) + ">",
		"a link that has a lot of attributes":             "<html><a " + strings.Repeat("a ", size/2) + ">",
		"an address in pieces":                            "<urlset><url><loc>" + strings.Repeat("a<b>", size/4),
	} {
		t.Run(behaviour, func(t *testing.T) {
			data := []byte(listing)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			crawl.ParseListings(address, data)
			runtime.ReadMemStats(&after)
			if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 20*size {
				t.Errorf("%d MB were allocated for a file of %d MB", allocated>>20, size>>20)
			}
		})
	}
}
