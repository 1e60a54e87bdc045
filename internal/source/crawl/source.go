package crawl

import (
	"bytes"
	"context"
	"io"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/web"
)

// Defaults of the options.
const (
	defaultPages = 10_000
	defaultDepth = 20
	defaultDelay = 500 * time.Millisecond
)

// maxPagesOption and maxDelay are the largest values of the options.
const (
	maxPagesOption = 100_000
	maxDelay       = time.Minute
)

// Source is a site. It implements source.Source, but List must not be called
// twice at the same time.
type Source struct {
	start    string
	client   *web.Client
	state    source.State
	previous source.State
	pages    int
	depth    int
	delay    time.Duration
	follows  bool // it looks for what has changed since the crawl before
}

// Check refuses a Spec that names no site.
func Check(spec source.Spec) error {
	if err := web.CheckAddress(spec.URI); err != nil {
		return knowledge.Invalid("body.source.uri", "must be the address of a page or a sitemap: https://host/path")
	}
	switch o := spec.Options; {
	case o.MaxPages > maxPagesOption:
		return knowledge.Invalid("body.source.options.max_pages", "is above %d", maxPagesOption)
	case time.Duration(o.DelayMS)*time.Millisecond > maxDelay:
		return knowledge.Invalid("body.source.options.delay_ms", "is above %d", maxDelay.Milliseconds())
	}
	return nil
}

// New returns the source that a request describes.
func New(r source.Request, client *web.Client) *Source {
	s := &Source{
		start: r.URI, client: client, state: r.State, previous: r.Previous,
		pages: r.Options.MaxPages, depth: r.Options.MaxDepth, delay: time.Duration(r.Options.DelayMS) * time.Millisecond,
	}
	if s.pages == 0 {
		s.pages = defaultPages
	}
	if s.depth == 0 {
		s.depth = defaultDepth
	}
	if s.delay == 0 {
		s.delay = defaultDelay
	}
	return s
}

// List implements source.Source. It returns after some pages or some seconds. A
// page of the site that fails for a time is tried again later, and listed at last,
// so that Open returns its error. A page that does not exist is left out.
func (s *Source) List(ctx context.Context, token string) (source.Page, error) {
	f, err := s.loadFrontier(ctx)
	if err != nil {
		return source.Page{}, err
	}
	switch {
	case token == f.token(f.Step):
	case f.Step > 0 && token == f.token(f.Step-1):
		return f.Last, nil // its first answer was lost
	default:
		return source.Page{}, knowledge.Errorf(knowledge.CodeInvalid, "%q is no position of this crawl", token)
	}
	v := visitor{Source: s, frontier: f, until: time.Now().Add(stepTime)}
	err = v.visit(ctx)
	if err != nil && len(v.page.Objects) == 0 {
		if saveErr := s.saveFrontier(context.WithoutCancel(ctx), f); saveErr != nil {
			return source.Page{}, saveErr
		}
		return source.Page{}, err
	}
	f.Step++
	if !f.isDone(s.pages) {
		v.page.Next = f.token(f.Step)
	}
	f.Last = v.page
	return v.page, s.saveFrontier(ctx, f)
}

// Open implements source.Source.
func (s *Source) Open(ctx context.Context, object source.Object, known string) (io.ReadCloser, source.Object, error) {
	if known != "" && known == object.ETag {
		return nil, object, source.ErrUnchanged // since List requested it
	}
	body, err := s.state.Load(ctx, bodyName(object.Key))
	if err != nil {
		return nil, object, err
	}
	if body != nil {
		object.ETag, object.Bytes = contentTag(body), int64(len(body))
		return io.NopCloser(bytes.NewReader(body)), object, nil
	}
	return s.fetch(ctx, object, known)
}

// fetch returns an object whose bytes List did not save: no page, a page that has
// not changed since the import before, or one that failed.
func (s *Source) fetch(ctx context.Context, object source.Object, known string) (io.ReadCloser, source.Object, error) {
	if isContentTag(known) {
		known = ""
	}
	r, err := s.client.Fetch(ctx, web.Request{Address: object.Key, Known: known, Delay: s.delay, Timeout: pageTimeout})
	if err != nil {
		return nil, object, err
	}
	object.ETag, object.Bytes, object.MediaType, object.Modified = r.Validator, r.Bytes, r.MediaType, r.Modified
	if !isPage(r.MediaType) {
		return r.Body, object, nil
	}
	defer r.Body.Close()
	body, err := web.ReadAll(r.Body, maxPage)
	if err != nil {
		return nil, object, err
	}
	object.ETag, object.Bytes = contentTag(body), int64(len(body))
	return io.NopCloser(bytes.NewReader(body)), object, nil
}
