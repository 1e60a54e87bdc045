package retrieve

import (
	"context"
	"fmt"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// neighbours returns the chunks around the contexts that have Around, by id. The id of a
// chunk follows from its document, version and ordinal.
func neighbours(ctx context.Context, reader PassageReader, p knowledge.Principal, contexts []Context) (map[string]knowledge.Chunk, error) {
	var hits []knowledge.Hit
	for _, c := range contexts {
		for i := c.Ordinal - c.Around; i <= c.Ordinal+c.Around; i++ {
			if i >= 0 && i != c.Ordinal {
				hits = append(hits, knowledge.Hit{ChunkID: knowledge.ChunkID(c.DocumentID, c.Version, i), DocumentID: c.DocumentID, Version: c.Version})
			}
		}
	}
	if len(hits) == 0 {
		return nil, nil
	}
	views, err := reader.VisibleChunks(ctx, p.Reader(), nil, hits)
	if err != nil {
		return nil, fmt.Errorf("read the neighbours of %d passages: %w", len(contexts), err)
	}
	found := make(map[string]knowledge.Chunk, len(views))
	for _, v := range views {
		found[v.ID] = v.Chunk
	}
	return found, nil
}

// joinedText returns the text of a passage with the text of its neighbours, which it may
// overlap. A neighbour that is gone, and what is behind it, is left out.
func joinedText(c Context, around map[string]knowledge.Chunk) string {
	list := []knowledge.Chunk{c.Chunk}
	for i := 1; i <= c.Around; i++ {
		before, ok := around[knowledge.ChunkID(c.DocumentID, c.Version, c.Ordinal-i)]
		if !ok || c.Ordinal < i {
			break
		}
		list = append([]knowledge.Chunk{before}, list...)
	}
	for i := 1; i <= c.Around; i++ {
		after, ok := around[knowledge.ChunkID(c.DocumentID, c.Version, c.Ordinal+i)]
		if !ok {
			break
		}
		list = append(list, after)
	}
	var b strings.Builder
	b.WriteString(withHeader(list[0]))
	for i, next := range list[1:] {
		text, end := next.Text, list[i].Span.End
		switch overlap := end - next.Span.Start; {
		case overlap > 0:
			text = strings.TrimPrefix(text, truncate(text, overlap))
		case overlap < 0:
			b.WriteByte('\n')
		}
		b.WriteString(text)
	}
	return b.String()
}
