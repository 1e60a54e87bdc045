package crawl

import (
	"net/http"
	"net/url"

	"github.com/cairn-rag/cairn/internal/source/web"
)

// ParseListings reads data as everything that a crawl reads from a site.
func ParseListings(address *url.URL, data []byte) {
	says := read(address, http.Header{"X-Robots-Tag": {string(data[:min(len(data), 100)])}}, data)
	f := newFrontier(address.String())
	f.Hosts = []string{hostOf(address)}
	for _, link := range says.links {
		f.add(link, 1, 1000, false)
	}
	v := visitor{Source: &Source{pages: 1000}, frontier: f}
	v.addListed(address, data)
	r := web.ParseRobots(string(data))
	r.Allow(address)
	f.addSitemaps(sitemapsIn(string(data))...)
}
