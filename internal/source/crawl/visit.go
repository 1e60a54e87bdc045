package crawl

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/web"
)

// Limits of one call of List and of one page.
const (
	stepTime    = 20 * time.Second
	stepPages   = 100
	pageTimeout = time.Minute
	maxPage     = 10 << 20 // bytes
	maxTries    = 3        // of a page that fails
)

// visitor visits the pages of one call of List.
type visitor struct {
	*Source
	frontier *frontier
	rules    map[string]*web.Rules // by host
	page     source.Page
	until    time.Time
}

// visit visits sitemaps and pages until the time or the number of a step is
// reached. Its error ends the step; what was visited before is kept.
func (v *visitor) visit(ctx context.Context) error {
	for len(v.page.Objects) < stepPages && time.Now().Before(v.until) && !v.frontier.isDone(v.pages) {
		if err := v.next(ctx); err != nil {
			return err
		}
	}
	return nil
}

// next visits the start first, then the sitemaps, then the pages.
func (v *visitor) next(ctx context.Context) error {
	f := v.frontier
	if len(f.Hosts) == 0 {
		return v.begin(ctx, f.Queue[0])
	}
	if len(f.Sitemaps) > 0 {
		return v.readSitemap(ctx)
	}
	t := f.Queue[0]
	f.Queue = f.Queue[1:]
	err := v.visitPage(ctx, t)
	switch {
	case err == nil:
	case ctx.Err() != nil || knowledge.IsCode(err, knowledge.CodeRateLimited):
		f.Queue = slices.Insert(f.Queue, 0, t)
		return err
	case !web.IsGone(err) && t.Tries+1 < maxTries:
		t.Tries++
		f.Queue = append(f.Queue, t)
	default:
		return v.miss(ctx, t, web.IsGone(err))
	}
	return nil
}

// begin visits the start. Unlike another page it may be on any host, may redirect
// to another host, and may be a sitemap; its error ends the crawl.
func (v *visitor) begin(ctx context.Context, t target) error {
	u, err := url.Parse(t.Address)
	if err != nil {
		return knowledge.Invalid("body.source.uri", "is not a URL")
	}
	u = normal(u)
	rules, err := v.allowed(ctx, u)
	if err != nil {
		return err
	}
	r, err := v.client.Fetch(ctx, web.Request{Address: u.String(), Delay: rules.Delay(v.delay), Timeout: pageTimeout})
	if err != nil {
		return err
	}
	defer r.Body.Close()
	body, err := web.ReadAll(r.Body, maxSitemap)
	if err != nil {
		return err
	}
	final, err := url.Parse(r.Address)
	if err != nil {
		return err // a request was sent to it
	}
	if _, err := v.allowed(ctx, final); err != nil {
		return err
	}
	f := v.frontier
	f.Hosts = slices.Compact([]string{hostOf(u), hostOf(final)})
	f.Queue = nil
	f.see(sameAs(u))
	f.see(sameAs(normal(final)))
	if isSitemap(body) {
		f.see("sitemap " + u.String())
		v.addListed(final, body)
		return nil
	}
	if !isPage(r.MediaType) {
		return knowledge.Errorf(knowledge.CodeInvalid, "%q is neither a page nor a sitemap; import a file by its URL", t.Address)
	}
	f.addSitemaps((&url.URL{Scheme: final.Scheme, Host: final.Host, Path: "/sitemap.xml"}).String())
	return v.keep(ctx, target{Address: u.String()}, r, final, body)
}

// allowed returns the rules of the host of an address, or the error for one that
// they forbid.
func (v *visitor) allowed(ctx context.Context, u *url.URL) (*web.Rules, error) {
	r, err := v.robots(ctx, u)
	if err == nil && !r.Allow(u) {
		err = knowledge.Errorf(knowledge.CodeForbidden, "the robots.txt of %q forbids reading %q", u.Host, u.String())
	}
	return r, err
}

// visitPage visits an address that a link or a sitemap named.
func (v *visitor) visitPage(ctx context.Context, t target) error {
	u, err := url.Parse(t.Address)
	if err != nil {
		return nil // there is no such page
	}
	rules, err := v.robots(ctx, u)
	if err != nil {
		return err
	}
	if !rules.Allow(u) {
		return nil
	}
	before, err := v.before(ctx, t.Address)
	if err != nil {
		return err
	}
	if v.follows && before.isFresh(t) {
		return v.finish(ctx, t, u, before, nil)
	}
	r, err := v.client.Fetch(ctx, web.Request{
		Address: t.Address, Known: before.Validator, Delay: rules.Delay(v.delay), Timeout: pageTimeout,
		Accept: "text/html, application/xhtml+xml, */*;q=0.5", Redirect: v.redirect,
	})
	if errors.Is(err, source.ErrUnchanged) {
		return v.keepUnchanged(ctx, t, before)
	}
	if err != nil {
		return err
	}
	defer r.Body.Close()
	final, err := url.Parse(r.Address)
	if err != nil {
		return err // a request was sent to it
	}
	if other := normal(final); sameAs(other) != sameAs(u) && !v.frontier.see(sameAs(other)) {
		return nil // a redirect to a page that is visited anyway
	}
	if !isPage(r.MediaType) {
		if isDocument(r.MediaType) {
			v.list(source.Object{Key: normal(final).String(), ETag: r.Validator, Bytes: r.Bytes, MediaType: r.MediaType, Modified: r.Modified})
		}
		return nil
	}
	body, err := web.ReadAll(r.Body, maxPage)
	if err != nil {
		return err
	}
	return v.keep(ctx, t, r, final, body)
}

// redirect follows redirects to pages that the crawl may visit.
func (v *visitor) redirect(next *http.Request, via []*http.Request) error {
	if len(via) > 5 || !slices.Contains(v.frontier.Hosts, hostOf(next.URL)) {
		return http.ErrUseLastResponse
	}
	if _, err := v.allowed(next.Context(), next.URL); err != nil {
		return http.ErrUseLastResponse
	}
	return nil
}

// list adds an object to the page of this step.
func (v *visitor) list(o source.Object) {
	o.Address = o.Key
	v.page.Objects = append(v.page.Objects, o)
	v.frontier.Pages++
}
