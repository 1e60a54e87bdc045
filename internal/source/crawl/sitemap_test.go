package crawl_test

import (
	"bytes"
	"compress/gzip"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

const (
	urlset = `<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`
	index  = `<?xml version="1.0"?><!DOCTYPE x [<!ENTITY e "x">]><sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`
)

// xml serves XML in which "SITE" stands for the address of the site.
func (s *site) xml(path, text string) {
	s.handle(path, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/xml")
		_, _ = w.Write(bytes.ReplaceAll([]byte(text), []byte("SITE"), []byte(s.URL)))
	})
}

func TestSitemaps(t *testing.T) {
	t.Parallel()
	pages := map[string]string{"/": "<p>start"}
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		pages["/"+name] = "<p>" + name
	}
	s := newSite(t, pages)
	s.pages["/robots.txt"] = "Sitemap: SITE/maps/index.xml\nsitemap: /relative.xml\n"
	s.xml("/maps/index.xml", index+`<sitemap><loc>SITE/maps/index.xml</loc></sitemap><sitemap><loc> SITE/one.xml </loc></sitemap>
<sitemap><loc>SITE/two.xml.gz</loc></sitemap><sitemap><loc>SITE/three.txt</loc></sitemap><sitemap><loc>SITE/missing.xml</loc></sitemap>
<sitemap><loc>http://10.0.0.1/private.xml</loc></sitemap></sitemapindex>`)
	s.xml("/one.xml", urlset+`<url><loc>SITE/a</loc><lastmod>2024-01-01</lastmod></url><url><loc>https://elsewhere.example/x</loc></url>
<url><loc>SITE/maps/index.xml</loc></url><url><loc>SITE/b</loc></url><url><loc>SITE/cut`)
	s.handle("/two.xml.gz", func(w http.ResponseWriter, _ *http.Request) {
		zipped := gzip.NewWriter(w)
		_, _ = zipped.Write([]byte(urlset + "<url><loc>" + s.URL + "/c</loc></url></urlset>"))
		_ = zipped.Close() // to a test server
	})
	s.xml("/three.txt", "SITE/d\nSITE/a\n")
	s.xml("/sitemap.xml", urlset+"<url><loc>SITE/e</loc></url></urlset>")
	wantPages(t, s, "/", "/a", "/b", "/c", "/d", "/e")
	if got := s.count("/maps/index.xml"); got > 2 { // as a sitemap, and as a page that it lists
		t.Errorf("the sitemap that lists itself was requested %d times", got)
	}
}

func TestASitemapAsStart(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]string{"/a": links("/b"), "/b": "<p>b", "/": "<p>start"})
	s.xml("/map.xml", index+`<sitemap><loc>SITE/map.xml</loc></sitemap><sitemap><loc>SITE/part.xml</loc></sitemap></sitemapindex>`)
	s.xml("/part.xml", urlset+"<url><loc>SITE/a</loc></url></urlset>")
	got := crawled(t, s, request(s.URL+"/map.xml", &sourcetest.State{}, nil))
	if diff := cmp.Diff([]string{"/a", "/b"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if s.count("/map.xml") != 1 || s.count("/") != 0 {
		t.Errorf("requests: %v", s.requests)
	}
}
