package crawl

import (
	"context"
	"encoding/json"
	"net/url"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/web"
)

// freshFor is for how long a page is not requested again while its sitemap says that it has
// not changed. Not all sitemaps are right.
const freshFor = 7 * 24 * time.Hour

// isFresh reports whether a page need not be requested, because its sitemap says what it said
// when the page was requested last.
func (p visited) isFresh(t target) bool {
	return t.Modified != "" && t.Modified == p.Modified && !p.Missed && time.Since(p.Requested) < freshFor
}

// Site is a site that is followed. It implements source.Source.
type Site struct {
	*Source
	cursor cursor
}

// cursor is what a run leaves to the next one, beside the state of the crawl.
type cursor struct {
	Doubt source.Doubt `json:"doubt"`
}

// CheckConnection refuses settings that name no site.
func CheckConnection(f source.Follow) error {
	if web.CheckAddress(f.Options.URL) != nil {
		return knowledge.Invalid("body.options.url", "must be the address of a page or a sitemap at which the crawl begins: https://host/path")
	}
	if f.Credentials != "" {
		return knowledge.Invalid("body.secret", "is not used by the type crawl, which reads what everybody can: leave it out")
	}
	return nil
}

// Follow returns the source of a site.
func Follow(f source.Follow, client *web.Client) *Site {
	s := New(source.Request{Spec: source.Spec{Type: source.TypeCrawl, URI: f.Options.URL}, State: f.State, Previous: f.Previous}, client)
	s.follows = true
	if s.state == nil {
		s.state = memory{}
	}
	site := &Site{Source: s}
	if err := json.Unmarshal([]byte(f.Cursor), &site.cursor); err != nil {
		site.cursor = cursor{} // there was no run
	}
	return site
}

// Try reports whether the site has a page at its start, and lets it be read.
func Try(ctx context.Context, f source.Follow, client *web.Client) error {
	s := Follow(f, client).Source
	v := visitor{Source: s, frontier: newFrontier(s.start)}
	return v.begin(ctx, v.frontier.Queue[0])
}

// List implements source.Source. It lists the whole site.
func (s *Site) List(ctx context.Context, token string) (source.Page, error) {
	if token == source.TokenAll {
		token = ""
	}
	page, err := s.Source.List(ctx, token)
	if err != nil || page.Next != "" {
		return page, err
	}
	f, err := s.loadFrontier(ctx)
	if err != nil {
		return source.Page{}, err
	}
	var after cursor
	after.Doubt, page.Full = s.cursor.Doubt.After(f.Pages, false)
	page.Full = page.Full && len(f.Queue) == 0 // else there are more pages than a crawl may visit
	text, err := json.Marshal(after)
	page.Cursor = string(text)
	return page, err
}

// miss handles a page that could not be visited. Where the site is followed, a page of the
// crawl before that is not there stays for one crawl more, and the links that it had are
// followed: it, or what leads to it, may be broken for a time.
func (v *visitor) miss(ctx context.Context, t target, gone bool) error {
	before := visited{}
	if v.follows {
		var err error
		if before, err = v.before(ctx, t.Address); err != nil {
			return err
		}
	}
	known := before.Object.Key != ""
	switch {
	case gone && !known:
		return nil
	case gone && before.Missed:
		v.page.Removed = append(v.page.Removed, before.Object.Key)
		return nil
	case gone:
		u, err := url.Parse(t.Address)
		if err != nil {
			return nil // there is no such page
		}
		before.Missed = true
		return v.finish(ctx, t, u, before, nil)
	case known && !before.NoIndex:
		v.list(source.Object{Key: before.Object.Key, Bytes: -1}) // Open returns its error
	case !known:
		v.list(source.Object{Key: t.Address, Bytes: -1})
	}
	if !known {
		return nil
	}
	return v.remember(ctx, t, before)
}

// memory is the state of a crawl that no other process continues.
type memory map[string][]byte

// Load implements source.State.
func (m memory) Load(_ context.Context, name string) ([]byte, error) { return m[name], nil }

// Save implements source.State.
func (m memory) Save(_ context.Context, name string, value []byte) error {
	m[name] = value
	return nil
}
