package confluence

import (
	"context"
	"html"
	"io"
	"net/url"
	"strings"

	"github.com/cairn-rag/cairn/internal/source"
)

// Open implements source.Source. It asks for the version of an attachment before its bytes:
// these may be newer than its etag, and never older.
func (s *Source) Open(ctx context.Context, o source.Object, known string) (io.ReadCloser, source.Object, error) {
	var c content
	if err := s.client.get(ctx, "rest/api/content/"+url.PathEscape(o.Ref), url.Values{"expand": {"version,body.export_view"}}, &c); err != nil {
		return nil, o, err
	}
	if !c.isDocument() {
		return nil, o, source.NotFound("page", o.Path())
	}
	o.ETag = c.etag()
	if known != "" && known == o.ETag {
		return nil, o, source.ErrUnchanged
	}
	if c.Type != kindAttachment {
		page := document(c)
		o.Bytes = int64(len(page))
		return io.NopCloser(strings.NewReader(page)), o, nil
	}
	answer, body, err := s.client.open(ctx, c.Links.Download) //nolint:bodyclose // Body closes it
	if err != nil {
		return nil, o, err
	}
	o.Bytes = answer.ContentLength
	return body, o, nil
}

// document returns a page as an HTML document with its title. Confluence has replaced its
// macros by what they show.
func document(c content) string {
	return `<!DOCTYPE html><html><head><meta charset="utf-8"><title>` + html.EscapeString(c.Title) + "</title></head><body><main>" + c.Body.Export.Value + "</main></body></html>"
}
