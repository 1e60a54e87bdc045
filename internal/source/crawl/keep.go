package crawl

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"time"

	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/web"
)

// visited is what is saved of a page for the next import.
type visited struct {
	Validator string        `json:"validator"`
	Object    source.Object `json:"object"`
	NoIndex   bool          `json:"no_index,omitempty"`
	Links     []string      `json:"links,omitempty"`
	// Modified is what the sitemap said of the page when it was requested, and Requested when
	// that was.
	Modified  string    `json:"modified,omitempty"`
	Requested time.Time `json:"requested,omitzero"`
	// Missed reports that the page was not there at the last request.
	Missed bool `json:"missed,omitempty"`
}

// before returns what the import before saved of an address.
func (v *visitor) before(ctx context.Context, address string) (visited, error) {
	var page visited
	if v.previous == nil {
		return page, nil
	}
	data, err := v.previous.Load(ctx, pageName(address))
	if err == nil && data != nil {
		err = json.Unmarshal(data, &page)
	}
	return page, err
}

// keep saves a page, lists it and adds its links to the queue.
func (v *visitor) keep(ctx context.Context, t target, r *web.Response, final *url.URL, body []byte) error {
	says := read(final, r.Header, body)
	page := visited{Validator: r.Validator, NoIndex: says.noIndex, Modified: t.Modified, Requested: time.Now(), Object: source.Object{
		Key: v.keyOf(says, final), ETag: contentTag(body), Bytes: int64(len(body)), MediaType: r.MediaType, Modified: r.Modified,
	}}
	if !says.noFollow {
		for _, link := range says.links {
			page.Links = append(page.Links, link.String())
		}
	}
	return v.finish(ctx, t, normal(final), page, body)
}

// keyOf returns the address under which a page is kept: the address on
// this site that it names as its canonical form, else its own.
func (v *visitor) keyOf(says found, final *url.URL) string {
	if says.canonical != nil && slices.Contains(v.frontier.Hosts, hostOf(says.canonical)) && isVisitable(says.canonical) {
		return normal(says.canonical).String()
	}
	return normal(final).String()
}

// keepUnchanged lists a page that has not changed since the import before, and
// adds the links that it had.
func (v *visitor) keepUnchanged(ctx context.Context, t target, page visited) error {
	u, err := url.Parse(t.Address)
	if err != nil {
		return err // a request was sent to it
	}
	page.Modified, page.Requested, page.Missed = t.Modified, time.Now(), false
	return v.finish(ctx, t, u, page, nil)
}

// finish lists a page at the address own, saves its bytes and what the next
// import needs of it, and adds its links to the queue. A page whose bytes another
// page had is left out with its links. A page whose canonical form is visited
// anyway is not listed.
func (v *visitor) finish(ctx context.Context, t target, own *url.URL, page visited, body []byte) error {
	if !v.frontier.see(page.Object.ETag) {
		return nil
	}
	key, err := url.Parse(page.Object.Key)
	if err != nil {
		return fmt.Errorf("keep a page: %w", err)
	}
	if sameAs(key) == sameAs(own) || v.frontier.see(sameAs(key)) {
		if err := v.listPage(ctx, page, body); err != nil {
			return err
		}
	}
	return v.remember(ctx, t, page)
}

// remember saves what the next import needs of a page, and adds its links to the queue.
func (v *visitor) remember(ctx context.Context, t target, page visited) error {
	data, err := json.Marshal(page)
	if err != nil {
		return fmt.Errorf("keep a page: %w", err)
	}
	if err := v.state.Save(ctx, pageName(t.Address), data); err != nil {
		return err
	}
	if t.Depth >= v.depth {
		return nil
	}
	for _, link := range page.Links {
		if u, err := url.Parse(link); err == nil {
			v.frontier.add(u, t.Depth+1, v.pages, false)
		}
	}
	return nil
}

func (v *visitor) listPage(ctx context.Context, page visited, body []byte) error {
	if page.NoIndex {
		return nil
	}
	if body != nil {
		if err := v.state.Save(ctx, bodyName(page.Object.Key), body); err != nil {
			return err
		}
	}
	v.list(page.Object)
	return nil
}
