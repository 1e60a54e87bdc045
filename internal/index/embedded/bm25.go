package embedded

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// BM25 gives the entries that share words with text. As with Dense, there is a
// way for searches that only permission narrows, of which the best ranked are
// mostly allowed, and one for the others, which ranks only what is allowed.
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
	s := wordSearch{db: x.statements, table: wordTable(workspace), words: words, scope: allowed, limit: q.Limit}
	if len(q.Filter) == 0 && len(q.Documents) == 0 {
		hits, complete, err := s.best(ctx, withSpare(q.Limit))
		if err != nil || complete {
			return hits, err
		}
	}
	return s.all(ctx)
}

type wordSearch struct {
	db    *statements
	table string
	words string // an FTS5 expression
	scope condition
	limit int
}

// best ranks all of the workspace, and drops what is not allowed from the first
// k within the same statement. complete is true if no other entry could be
// among the hits.
func (s *wordSearch) best(ctx context.Context, k int) (hits []knowledge.Hit, complete bool, err error) {
	statement := "WITH best AS MATERIALIZED (SELECT rowid AS id, bm25(" + s.table + ") AS score FROM " + s.table +
		" WHERE " + s.table + ` MATCH ? ORDER BY score LIMIT ?)
		SELECT e.chunk_id, v.document_id, v.version, best.score, (SELECT count(*) FROM best), (SELECT max(score) FROM best)
		FROM best CROSS JOIN entries e ON e.id = best.id CROSS JOIN versions v ON v.id = e.version_id
		WHERE ` + s.scope.sql + " ORDER BY best.score, e.chunk_id LIMIT ?"
	var seen int
	var score, worst float64
	args := append(append([]any{s.words, k}, s.scope.args...), s.limit)
	hits, err = s.run(ctx, query{statement, args, true}, &score, &seen, &worst)
	if err != nil || len(hits) == 0 {
		return nil, false, err
	}
	return hits, seen < k || len(hits) == s.limit && score < worst, nil
}

// all ranks the entries that are allowed.
func (s *wordSearch) all(ctx context.Context) ([]knowledge.Hit, error) {
	statement := "SELECT e.chunk_id, v.document_id, v.version, bm25(" + s.table + ") AS score FROM " + s.table +
		" CROSS JOIN entries e ON e.id = " + s.table + ".rowid CROSS JOIN versions v ON v.id = e.version_id" +
		" WHERE " + s.table + " MATCH ? AND " + s.scope.sql + " ORDER BY score, e.chunk_id LIMIT ?"
	var score float64
	args := append(append([]any{s.words}, s.scope.args...), s.limit)
	return s.run(ctx, query{sql: statement, args: args}, &score)
}

// run reads hits whose fourth column is FTS5's score, which is the lower the
// better; more columns go to more.
func (s *wordSearch) run(ctx context.Context, q query, score *float64, more ...any) ([]knowledge.Hit, error) {
	hits, err := s.db.hits(ctx, q, append([]any{score}, more...), func() float64 { return -*score })
	if err != nil {
		return nil, fmt.Errorf("search for words: %w", err)
	}
	return hits, nil
}
