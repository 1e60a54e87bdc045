package embedded

import (
	"context"
	"fmt"
	"slices"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/words"
)

// matchesPerHit is the number of passages that are ranked for each requested
// hit.
const matchesPerHit = 6

// BM25 returns the entries that share words with text. As in Dense, there is
// one way for searches that only permission narrows, where most of the best
// ranked are allowed, and one for all other searches, which ranks only allowed
// entries.
//
// The first way ranks passages with one of the rarer words: as many words as
// are needed for matchesPerHit passages per hit. The time for ranking grows
// with the number of ranked passages, and frequent words occur in most passages
// of a workspace but add little to a score. In the Cranfield collection .992 of
// the first ten hits are the same as with all words.
func (x *Index) BM25(ctx context.Context, q index.Query, text string) ([]knowledge.Hit, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	terms := words.Question(text)
	if len(terms) == 0 {
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
	s := wordSearch{db: x.statements, table: wordTable(workspace), words: anyOf(terms...), scope: allowed, limit: q.Limit}
	if len(q.Filter) == 0 && len(q.Documents) == 0 {
		rarer, others, err := x.byFrequency(ctx, workspace, terms, matchesPerHit*q.Limit)
		if err != nil {
			return nil, fmt.Errorf("count words: %w", err)
		}
		hits, complete, err := s.best(ctx, rarer, others, withSpare(q.Limit))
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

// best ranks all passages of the workspace with one of the rarer terms and, in
// the same statement, drops those of the first k that are not allowed. complete
// is true if no passage outside the first k could be among the hits.
func (s *wordSearch) best(ctx context.Context, rarer, others []words.Term, k int) (hits []knowledge.Hit, complete bool, err error) {
	words, times := s.words, 1.0
	if len(others) > 0 {
		// The expression contains each term twice, which doubles the score.
		words, times = "("+anyOf(rarer...)+") AND ("+anyOf(slices.Concat(rarer, others, others)...)+")", 2
	}
	statement := "WITH best AS MATERIALIZED (SELECT rowid AS id, bm25(" + s.table + ") AS score FROM " + s.table +
		" WHERE " + s.table + ` MATCH ? ORDER BY score LIMIT +?)
		SELECT e.chunk_id, v.document_id, v.version, best.score / ?, (SELECT count(*) FROM best), (SELECT max(score) FROM best) / ?
		FROM best CROSS JOIN entries e ON e.id = best.id CROSS JOIN versions v ON v.id = e.version_id
		WHERE ` + s.scope.sql + " ORDER BY best.score, e.chunk_id LIMIT +?"
	var seen int
	var score, worst float64
	args := append(append([]any{words, k, times, times}, s.scope.args...), s.limit)
	hits, err = s.run(ctx, query{statement, args, true}, &score, &seen, &worst)
	if err != nil || len(hits) == 0 {
		return nil, false, err
	}
	return hits, seen < k && len(others) == 0 || len(hits) == s.limit && score < worst, nil
}

// all ranks all allowed entries.
func (s *wordSearch) all(ctx context.Context) ([]knowledge.Hit, error) {
	statement := "SELECT e.chunk_id, v.document_id, v.version, bm25(" + s.table + ") AS score FROM " + s.table +
		" CROSS JOIN entries e ON e.id = " + s.table + ".rowid CROSS JOIN versions v ON v.id = e.version_id" +
		" WHERE " + s.table + " MATCH ? AND " + s.scope.sql + " ORDER BY score, e.chunk_id LIMIT ?"
	var score float64
	args := append(append([]any{s.words}, s.scope.args...), s.limit)
	return s.run(ctx, query{sql: statement, args: args}, &score)
}

// run returns hits whose fourth column is FTS5's score, where lower is better.
// Further columns are scanned into more.
func (s *wordSearch) run(ctx context.Context, q query, score *float64, more ...any) ([]knowledge.Hit, error) {
	hits, err := s.db.hits(ctx, q, append([]any{score}, more...), func() float64 { return -*score })
	if err != nil {
		return nil, fmt.Errorf("search for words: %w", err)
	}
	return hits, nil
}
