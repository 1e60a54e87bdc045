package embedded

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// BM25 gives the entries that share words with text. Permission and filter are
// part of the statement, and only what passes them is ranked.
func (x *Index) BM25(ctx context.Context, q index.Query, text string) ([]knowledge.Hit, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	words := question(text)
	if words == "" {
		return nil, nil
	}
	workspace, err := x.workspace(ctx, q.Principal.Workspace())
	if err != nil || workspace == 0 {
		return nil, err
	}
	allowed, err := scope(q, workspace)
	if err != nil {
		return nil, err
	}
	table := wordTable(workspace)
	statement := "SELECT e.chunk_id, v.document_id, v.version, bm25(" + table + ") AS rank FROM " + table +
		" CROSS JOIN entries e ON e.id = " + table + ".rowid CROSS JOIN versions v ON v.id = e.version_id" +
		" WHERE " + table + " MATCH ? AND " + allowed.sql + " ORDER BY rank, e.chunk_id LIMIT ?"
	args := append(append([]any{words}, allowed.args...), q.Limit)
	var rank float64 // the lower the better
	hits, err := readHits(ctx, x.reader, statement, args, []any{&rank}, func() float64 { return -rank })
	if err != nil {
		return nil, fmt.Errorf("search for words: %w", err)
	}
	return hits, nil
}

// readHits reads rows of chunk id, document id and version; the columns after
// these go to rest, from which score reckons the hit's score.
func readHits(ctx context.Context, db *sql.DB, statement string, args, rest []any, score func() float64) ([]knowledge.Hit, error) {
	rows, err := db.QueryContext(ctx, statement, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var hits []knowledge.Hit
	for rows.Next() {
		var h knowledge.Hit
		if err := rows.Scan(append([]any{&h.ChunkID, &h.DocumentID, &h.Version}, rest...)...); err != nil {
			return nil, err
		}
		h.Score = score()
		hits = append(hits, h)
	}
	return hits, rows.Err()
}
