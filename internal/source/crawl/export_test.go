package crawl

import (
	"net/http"
	"net/url"
	"time"

	"github.com/cairn-rag/cairn/internal/source/web"
)

// Hurry makes a site be crawled without delays.
func (s *Site) Hurry() { s.delay = time.Millisecond }

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
