package retrieve

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// PassageReader is the part of the store that Lookup and Passages read. Its methods check the
// principal's permission at the moment of the call.
type PassageReader interface {
	// VisibleChunks returns the hits that belong to published versions which the
	// principal's tokens reach.
	VisibleChunks(ctx context.Context, p knowledge.Principal, projects []string, hits []knowledge.Hit) ([]store.ChunkView, error)
	// Chunk returns a chunk, also of an older version. It fails with CodeNotFound
	// or CodeGone if there is none for the principal.
	Chunk(ctx context.Context, p knowledge.Principal, id string) (store.ChunkView, error)
	// Siblings returns, by the id of each chunk that has a parent and that
	// VisibleChunks would return, the chunks of the same parent in their order, itself
	// included.
	Siblings(ctx context.Context, p knowledge.Principal, ids []string) (map[string][]knowledge.Chunk, error)
}

// Lookup returns the passages that were found before, as the principal may read
// them now, by chunk id. It leaves out the passages that are gone or that the
// principal's tokens no longer reach; the principal's scopes do not count. A
// passage of an older version is returned while the store keeps it.
func Lookup(ctx context.Context, chunks PassageReader, p knowledge.Principal, hits []knowledge.Hit) (map[string]store.ChunkView, error) {
	p = p.Reader()
	visible, err := chunks.VisibleChunks(ctx, p, nil, hits)
	if err != nil {
		return nil, fmt.Errorf("look up passages: %w", err)
	}
	found := make(map[string]store.ChunkView, len(hits))
	for _, c := range visible {
		found[c.ID] = c
	}
	for _, h := range hits {
		if _, ok := found[h.ChunkID]; ok {
			continue
		}
		c, err := chunks.Chunk(ctx, p, h.ChunkID)
		switch {
		case err == nil:
			found[c.ID] = c
		case !knowledge.IsCode(err, knowledge.CodeNotFound) && !knowledge.IsCode(err, knowledge.CodeGone):
			return nil, fmt.Errorf("look up passage %s: %w", h.ChunkID, err)
		}
	}
	return found, nil
}
