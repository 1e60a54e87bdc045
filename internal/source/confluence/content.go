package confluence

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/source"
)

// The types of content that become documents.
const (
	kindPage       = "page"
	kindPost       = "blogpost"
	kindAttachment = "attachment"
)

// identifier is an id, which is a string or a number in JSON.
type identifier string

// UnmarshalJSON implements json.Unmarshaler.
func (i *identifier) UnmarshalJSON(data []byte) error {
	*i = identifier(strings.Trim(string(data), `"`))
	return nil
}

// results is a page of a list.
type results[T any] struct {
	Results []T `json:"results"`
	Limit   int `json:"limit"` // of the page
	Links   struct {
		Next string `json:"next"`
	} `json:"_links"`
}

// nextQuery returns the query of the address of the next page, nil after the last.
func (r results[T]) nextQuery() url.Values {
	u, err := url.Parse(r.Links.Next)
	if err != nil || r.Links.Next == "" {
		return nil
	}
	return u.Query()
}

// content is a page, a blog post, an attachment, or what contains one.
type content struct {
	ID      identifier `json:"id"`
	Type    string     `json:"type"`
	Status  string     `json:"status"`
	Title   string     `json:"title"`
	Space   space      `json:"space"`
	Version struct {
		Number int    `json:"number"`
		When   string `json:"when"`
	} `json:"version"`
	Ancestors []content `json:"ancestors"` // the highest first
	Container *content  `json:"container"`
	Metadata  struct {
		Labels results[label] `json:"labels"`
	} `json:"metadata"`
	Extensions struct {
		MediaType string `json:"mediaType"`
		Bytes     int64  `json:"fileSize"`
	} `json:"extensions"`
	Restrictions restrictions `json:"restrictions"`
	Body         struct {
		Export struct {
			Value string `json:"value"`
		} `json:"export_view"`
	} `json:"body"`
	Links struct {
		Download string `json:"download"`
	} `json:"_links"`
}

// space is a space as contents name it.
type space struct {
	ID  identifier `json:"id"`
	Key string     `json:"key"`
}

type label struct {
	Prefix string `json:"prefix"`
	Name   string `json:"name"`
}

// isDocument reports whether a content is one that readers see and that has text.
func (c content) isDocument() bool {
	return (c.Type == kindPage || c.Type == kindPost || c.Type == kindAttachment) && cmp.Or(c.Status, "current") == "current"
}

// etag changes with the content: with each version, and if an attachment takes the place of
// a page.
func (c content) etag() string { return fmt.Sprintf("%s %d", c.Type, c.Version.Number) }

// key returns the key of a content, which stays when it is moved or renamed.
func (c content) key() string { return "id:" + string(c.ID) }

// labels returns the labels of a content without those that are private to an account.
func (c content) labels() []string {
	list := []string{} // there are none, which is not the same as not to know them
	for _, l := range c.Metadata.Labels.Results {
		if l.Prefix != "my" {
			list = append(list, l.Name)
		}
	}
	return list
}

// object returns the object of a content in a page, or of a page itself.
func (s *Source) object(c content, in *content) source.Object {
	o := source.Object{Key: c.key(), ETag: c.etag(), Bytes: -1, MediaType: "text/html", Tags: c.labels(), Ref: string(c.ID)}
	o.Modified, _ = time.Parse(time.RFC3339, c.Version.When) // zero if it is not known
	o.Address = s.client.base + "/pages/viewpage.action?pageId=" + url.QueryEscape(string(c.ID))
	titles := []string{c.Title}
	if in != nil {
		o.MediaType, o.Bytes = c.Extensions.MediaType, cmp.Or(c.Extensions.Bytes, -1)
		o.Address = s.client.base + "/rest/api/content/" + url.PathEscape(string(c.ID)) // stays if it is moved to another page
		titles, c = []string{in.Title, c.Title}, *in
	}
	path := []string{}
	if s.follow.Scope.Space == "" {
		path = append(path, c.Space.Key)
	}
	for _, a := range c.Ancestors {
		path = append(path, a.Title)
	}
	path = append(path, titles...)
	for n := range path {
		path[n] = strings.ReplaceAll(path[n], "/", "_")
	}
	o.Name = strings.Join(path, "/")
	return o
}
