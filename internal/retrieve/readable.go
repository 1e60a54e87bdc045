package retrieve

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// The most that Readable returns, and of how many documents.
const (
	readableDocuments = 500
	readableChunks    = 5000
)

// Library lists documents and their passages as a principal may read them.
type Library interface {
	// Documents lists documents, newest first.
	Documents(ctx context.Context, p knowledge.Principal, query store.DocumentQuery) (list []knowledge.Document, cursor string, err error)
	// Document returns one document.
	Document(ctx context.Context, p knowledge.Principal, id string) (knowledge.Document, error)
	// DocumentChunks lists the chunks of the published version in their order.
	DocumentChunks(ctx context.Context, p knowledge.Principal, document string, page store.Page) (chunks []knowledge.Chunk, cursor string, err error)
}

// Choice names documents of a project: those with these ids, else those with one of the tags, else
// all.
type Choice struct {
	Project   string
	Documents []string
	Tags      []string
}

// Readable returns passages of published documents that a principal may read, with their
// documents. A chosen document that the principal may not read, or of another project, is
// CodeNotFound.
func Readable(ctx context.Context, from Library, p knowledge.Principal, of Choice) (list []store.ChunkView, err error) {
	documents, err := readable(ctx, from, p, of)
	if err != nil {
		return nil, err
	}
	for _, d := range documents {
		for page := (store.Page{Limit: 500}); len(list) < readableChunks; {
			chunks, next, err := from.DocumentChunks(ctx, p, d.ID, page)
			if err != nil {
				return nil, fmt.Errorf("read document %s: %w", d.ID, err)
			}
			for _, c := range chunks {
				list = append(list, store.ChunkView{Chunk: c, Document: d})
			}
			if page.Cursor = next; next == "" {
				break
			}
		}
	}
	return list, nil
}

func readable(ctx context.Context, from Library, p knowledge.Principal, of Choice) (list []knowledge.Document, err error) {
	for _, id := range of.Documents {
		d, err := from.Document(ctx, p, id)
		if err == nil && d.Project != of.Project {
			err = knowledge.NotFound("document", id)
		}
		if err != nil {
			return nil, fmt.Errorf("read document %s: %w", id, err)
		}
		list = append(list, d)
	}
	if len(list) > 0 {
		return list, nil
	}
	query := store.DocumentQuery{Project: of.Project, Tags: of.Tags, Status: knowledge.StatusPublished, Page: store.Page{Limit: readableDocuments}}
	if list, _, err = from.Documents(ctx, p, query); err != nil {
		return nil, fmt.Errorf("list documents: %w", err)
	}
	return list, nil
}
