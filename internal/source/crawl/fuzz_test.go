package crawl_test

import (
	"net/url"
	"testing"

	"github.com/cairn-rag/cairn/internal/source/crawl"
)

// FuzzListings checks that nothing that a site sends makes a crawl panic.
func FuzzListings(f *testing.F) {
	f.Add([]byte(urlset + "<url><loc>https://site.example/a</loc></url></urlset>"))
	f.Add([]byte("User-agent: *\nDisallow: /*.x$\nCrawl-delay: 1\nSitemap: https://site.example/s.xml"))
	f.Add([]byte(`<base href="//x"><a href="/a?b=1&utm_x=2;jsessionid=3#c"><link rel=canonical href=x><meta name=robots content=none>`))
	f.Add([]byte("\x1f\x8b\x08"))
	f.Fuzz(func(_ *testing.T, data []byte) {
		crawl.ParseListings(&url.URL{Scheme: "https", Host: "site.example", Path: "/start/"}, data)
	})
}
