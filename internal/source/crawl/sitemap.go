package crawl

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/url"
	"strings"

	"golang.org/x/net/html"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source/web"
)

// Limits of sitemaps: the bytes of one, as its specification says, and their
// number.
const (
	maxSitemap  = 50 << 20
	maxSitemaps = 1000
)

// maxModified is the largest number of bytes of a time in a sitemap.
const maxModified = 64

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
		if u, err := base.Parse(page.address); err == nil && v.frontier.add(u, 1, v.pages, true) {
			v.frontier.Queue[len(v.frontier.Queue)-1].Modified = page.modified
		}
	}
	for _, sitemap := range sitemaps {
		if u, err := base.Parse(sitemap); err == nil {
			v.frontier.addSitemaps(u.String())
		}
	}
}

// listed is a page that a sitemap lists.
type listed struct {
	address  string
	modified string // as the sitemap writes it, "" = it does not say
}

// parseSitemap returns the pages and the addresses of sitemaps in a sitemap, which
// is XML or a text with one address a line, and may be compressed. It returns
// what it could read. It keeps no stack of open elements, so that neither their depth nor
// their number takes memory.
func parseSitemap(data []byte) (pages []listed, sitemaps []string) {
	if bytes.HasPrefix(data, []byte("\x1f\x8b")) {
		unzipped, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil, nil
		}
		data, _ = io.ReadAll(io.LimitReader(unzipped, maxSitemap)) // the part that can be read
	}
	if trimmed := bytes.TrimSpace(bytes.TrimPrefix(data, []byte("\ufeff"))); !bytes.HasPrefix(trimmed, []byte("<")) {
		for _, address := range strings.Fields(string(trimmed)) {
			pages = append(pages, listed{address: address})
		}
		return pages, nil
	}
	inSitemap, inURL, reading, text := false, false, "", ""
	tags := newTokenizer(data)
	tags.AllowCDATA(true)
	for len(pages)+len(sitemaps) < maxQueue {
		switch kind := tags.Next(); kind {
		case html.ErrorToken:
			return pages, sitemaps
		case html.TextToken:
			if reading != "" && len(text) <= maxAddress { // a longer one is refused
				text += string(tags.Text())
			}
		case html.StartTagToken:
			switch name := localName(tags); name {
			case "sitemap", "url":
				inSitemap, inURL = name == "sitemap", false
			case "loc", "lastmod":
				reading, text = name, ""
			}
		case html.EndTagToken:
			if reading == "" || localName(tags) != reading {
				continue
			}
			switch text = strings.TrimSpace(text); {
			case reading == "lastmod":
				if inURL && len(text) <= maxModified {
					pages[len(pages)-1].modified = text
				}
			case inSitemap:
				sitemaps = append(sitemaps, text)
			default:
				pages, inURL = append(pages, listed{address: text}), true
			}
			reading = ""
		}
	}
	return pages, sitemaps
}

// localName returns the name of a tag without its namespace.
func localName(tags *html.Tokenizer) string {
	name, _ := tags.TagName()
	return string(name[bytes.LastIndexByte(name, ':')+1:])
}

// isSitemap reports whether the bytes at the start of a crawl are a sitemap.
func isSitemap(data []byte) bool {
	head := data[:min(len(data), 4096)]
	return bytes.Contains(head, []byte("<urlset")) || bytes.Contains(head, []byte("<sitemapindex"))
}
