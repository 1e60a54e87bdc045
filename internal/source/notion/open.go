package notion

import (
	"context"
	"io"
	"net/url"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// Open implements source.Source. It asks for the time of the last edit before the content,
// which may be newer than its etag, and never older.
func (s *Source) Open(ctx context.Context, o source.Object, known string) (io.ReadCloser, source.Object, error) {
	kind, id, _ := strings.Cut(o.Key, ":")
	switch kind + ":" {
	case keyPage:
		return s.openPage(ctx, o, id, known)
	case keyTable:
		return s.openTable(ctx, o, id, known)
	case keyBlock, keyFile:
		return s.openFile(ctx, o, known)
	}
	return nil, o, source.NotFound("page", o.Path())
}

// shown returns a page or a table that is not in the trash.
func (s *Source) shown(ctx context.Context, path, id string, o source.Object) (i item, err error) {
	err = s.client.get(ctx, path+url.PathEscape(id), nil, &i)
	if err == nil && (i.InTrash || i.Archived) {
		err = source.NotFound("page", o.Path())
	}
	return i, err
}

func (s *Source) openPage(ctx context.Context, o source.Object, id, known string) (io.ReadCloser, source.Object, error) {
	now := time.Now()
	page, err := s.shown(ctx, "pages/", id, o)
	if err != nil {
		return nil, o, err
	}
	if o.ETag = tagOf(page.Edited, now); known != "" && known == o.ETag && isSettled(known) {
		return nil, o, source.ErrUnchanged
	}
	t, err := s.client.blocksOf(ctx, id)
	if err != nil {
		return nil, o, err
	}
	body, o := whole(o, pageDocument(page, t))
	return body, o, nil
}

func (s *Source) openTable(ctx context.Context, o source.Object, id, known string) (io.ReadCloser, source.Object, error) {
	now := time.Now()
	table, err := s.shown(ctx, "data_sources/", id, o)
	if err != nil {
		return nil, o, err
	}
	rows, cut, err := s.client.rowsOf(ctx, id)
	if err != nil {
		return nil, o, err
	}
	stamps := make([]stamp, 0, len(rows))
	for _, row := range rows {
		stamps = append(stamps, stamp{row.ID, row.Edited})
	}
	if o.ETag = tableTag(table.Edited, stamps, now); known != "" && known == o.ETag && isSettled(known) {
		return nil, o, source.ErrUnchanged
	}
	body, o := whole(o, tableDocument(table, rows, cut))
	return body, o, nil
}

// whole returns a document that is in memory.
func whole(o source.Object, text string) (io.ReadCloser, source.Object) {
	o.Bytes = int64(len(text))
	return io.NopCloser(strings.NewReader(text)), o
}

// signatures is how often a file is asked for whose address has expired.
const signatures = 2

// openFile opens a file. Its address is signed for an hour, so it is never kept: each time
// Notion is asked for it anew.
func (s *Source) openFile(ctx context.Context, o source.Object, known string) (io.ReadCloser, source.Object, error) {
	for try := 1; ; try++ {
		f, err := s.fileOf(ctx, o)
		if err != nil {
			return nil, o, err
		}
		if o.ETag = f.tag(); known != "" && known == o.ETag {
			return nil, o, source.ErrUnchanged
		}
		answer, body, err := s.client.download(ctx, f.File.URL) //nolint:bodyclose // Body closes it
		if knowledge.IsCode(err, knowledge.CodeForbidden) && try < signatures {
			continue // the address has expired while the request waited
		}
		if err != nil {
			return nil, o, err
		}
		o.Bytes, o.MediaType = answer.ContentLength, answer.Header.Get("Content-Type")
		return body, o, nil
	}
}

// fileOf asks for a file in a block or in a property of a page.
func (s *Source) fileOf(ctx context.Context, o source.Object) (f fileObject, err error) {
	if id, inBlock := strings.CutPrefix(o.Key, keyBlock); inBlock {
		var b block
		err := s.client.get(ctx, "blocks/"+url.PathEscape(id), nil, &b)
		if err == nil && (b.InTrash || !b.isFile()) {
			err = source.NotFound("file", o.Path())
		}
		return b.content.fileObject, err
	}
	id, _, _ := strings.Cut(strings.TrimPrefix(o.Key, keyFile), ":")
	page, err := s.shown(ctx, "pages/", id, o)
	if err != nil {
		return f, err
	}
	for _, p := range page.Properties {
		p.eachFile(id, func(key string, one option) {
			if key == o.Key {
				f = one.fileObject
			}
		})
	}
	if !f.isHosted() {
		return f, source.NotFound("file", o.Path())
	}
	return f, nil
}
