package crawl

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source/web"
)

// Limits of sitemaps: the bytes of one, as its specification says, and their
// number.
const (
	maxSitemap  = 50 << 20
	maxSitemaps = 1000
)

// addSitemaps adds the addresses of sitemaps that were not read before. One that
// lists itself is read once.
func (f *frontier) addSitemaps(addresses ...string) {
	for _, address := range addresses {
		if f.Read+len(f.Sitemaps) < maxSitemaps && len(address) <= maxAddress && web.CheckAddress(address) == nil && f.see("sitemap "+address) {
			f.Sitemaps = append(f.Sitemaps, address)
		}
	}
}

// readSitemap adds the pages and the sitemaps that the next sitemap lists. A
// sitemap that is not there or cannot be read is left out.
func (v *visitor) readSitemap(ctx context.Context) error {
	f := v.frontier
	u, err := url.Parse(f.Sitemaps[0])
	if err != nil {
		return err // addSitemaps has checked it
	}
	data, err := v.fetchSitemap(ctx, u)
	switch {
	case err == nil:
		v.addListed(u, data)
	case ctx.Err() != nil || knowledge.IsCode(err, knowledge.CodeRateLimited):
		return err
	case !web.IsGone(err) && f.Tries+1 < maxTries:
		f.Tries++
		return err
	}
	f.Sitemaps, f.Tries = f.Sitemaps[1:], 0
	f.Read++
	return nil
}

func (v *visitor) fetchSitemap(ctx context.Context, u *url.URL) ([]byte, error) {
	rules, err := v.robots(ctx, u)
	if err != nil {
		return nil, err
	}
	r, err := v.client.Fetch(ctx, web.Request{Address: u.String(), Delay: rules.Delay(v.delay), Timeout: pageTimeout})
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	return web.ReadAll(r.Body, maxSitemap)
}

// addListed adds what a sitemap lists.
func (v *visitor) addListed(base *url.URL, data []byte) {
	pages, sitemaps := parseSitemap(data)
	for _, page := range pages {
		if u, err := base.Parse(page); err == nil {
			v.frontier.add(u, 1, v.pages, true)
		}
	}
	for _, sitemap := range sitemaps {
		if u, err := base.Parse(sitemap); err == nil {
			v.frontier.addSitemaps(u.String())
		}
	}
}

// parseSitemap returns the addresses of pages and of sitemaps in a sitemap, which
// is XML or a text with one address a line, and may be compressed. It returns
// what it could read.
func parseSitemap(data []byte) (pages, sitemaps []string) {
	var r io.Reader = bytes.NewReader(data)
	if bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		unzipped, err := gzip.NewReader(r)
		if err != nil {
			return nil, nil
		}
		data, _ = io.ReadAll(io.LimitReader(unzipped, maxSitemap)) // the part that can be read
		r = bytes.NewReader(data)
	}
	if trimmed := bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff"))); !bytes.HasPrefix(trimmed, []byte("<")) {
		return strings.Fields(string(trimmed)), nil
	}
	decoder := xml.NewDecoder(r)
	decoder.Strict = false
	decoder.CharsetReader = func(_ string, input io.Reader) (io.Reader, error) { return input, nil } // addresses are ASCII
	for inSitemap := false; len(pages)+len(sitemaps) < maxQueue; {
		token, err := decoder.Token()
		if err != nil {
			return pages, sitemaps
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		switch start.Name.Local {
		case "sitemap":
			inSitemap = true
		case "url":
			inSitemap = false
		case "loc":
			var address string
			if err := decoder.DecodeElement(&address, &start); errors.Is(err, io.EOF) {
				return pages, sitemaps
			}
			if address = strings.TrimSpace(address); inSitemap {
				sitemaps = append(sitemaps, address)
			} else {
				pages = append(pages, address)
			}
		}
	}
	return pages, sitemaps
}

// isSitemap reports whether the bytes at the start of a crawl are a sitemap.
func isSitemap(data []byte) bool {
	head := data[:min(len(data), 4096)]
	return bytes.Contains(head, []byte("<urlset")) || bytes.Contains(head, []byte("<sitemapindex"))
}
