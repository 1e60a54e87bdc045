package store

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// siblings is prepared once, like visibleChunks. The condition on parent_end is that
// of the index chunks_by_parent.
var siblings = `SELECT h.id, c.id, c.ordinal, c.span_start, c.span_end, c.header, c.body
FROM json_each(?4) AS i CROSS JOIN chunks AS h CROSS JOIN documents AS d CROSS JOIN chunks AS c
WHERE h.id = i.value AND h.workspace = ?1 AND h.parent_end > 0 AND d.id = h.document_id AND d.published_version = h.version
	AND ` + searched() + `
	AND c.document_id = h.document_id AND c.version = h.version AND c.parent_start = h.parent_start AND c.parent_end = h.parent_end AND c.parent_end > 0
ORDER BY i.key, c.ordinal`

// Siblings returns, by the id of each chunk that has a parent, the chunks of the same
// parent in their order, itself included: their ids, ordinals, spans, headers and
// texts. A chunk that VisibleChunks would not return is left out.
func (s *chunkStore) Siblings(ctx context.Context, p knowledge.Principal, ids []string) (map[string][]knowledge.Chunk, error) {
	if err := requireWorkspace(p); err != nil {
		return nil, err
	}
	m, err := s.marks(ctx, p)
	if err != nil {
		return nil, err
	}
	rows, err := s.reader.query(ctx, siblings, p.Workspace(), p.Project(), m.list(), jsonList(ids))
	if err != nil {
		return nil, fmt.Errorf("read the siblings of %d chunks: %w", len(ids), failure(err))
	}
	defer rows.Close()
	families := map[string][]knowledge.Chunk{}
	for rows.Next() {
		var id string
		var c knowledge.Chunk
		if err := rows.Scan(&id, &c.ID, &c.Ordinal, &c.Span.Start, &c.Span.End, &c.Header, &c.Text); err != nil {
			return nil, fmt.Errorf("read the siblings of %d chunks: %w", len(ids), failure(err))
		}
		families[id] = append(families[id], c)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read the siblings of %d chunks: %w", len(ids), failure(err))
	}
	return families, nil
}
