package embedded

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	// maxCompared is the largest number of entries that are few: their scores are
	// computed without a look at the other entries.
	maxCompared = 500
	// maxCandidates is the largest number of best entries whose permission is
	// checked before all allowed entries are read instead.
	maxCandidates = 1024
)

// scored is an entry with its score. A higher score is better.
type scored struct {
	entry int64
	score float64
}

// ranking ranks the entries of a workspace for one question, whoever may see them.
type ranking interface {
	// best returns the k entries with the highest scores, best first, or all that
	// have a score.
	best(ctx context.Context, k int) ([]scored, error)
	// among returns the k best of the given entries, whose ids ascend.
	among(ctx context.Context, entries []int64, k int) ([]scored, error)
}

// withSpare returns the number of candidates for limit hits, so that some may
// be dropped or have equal scores.
func withSpare(limit int) int { return limit + limit/5 + 5 }

// search returns the best entries that the query may find. It has three ways,
// which differ in their cost but not in their result.
//
// If only permission narrows the query, most of the best entries are allowed:
// one statement drops the others. If too few are left, or if the query has a
// filter, and the allowed entries are few, only they are ranked. Otherwise more
// and more of the best are checked, and at last all allowed entries are ranked.
func (x *Index) search(ctx context.Context, q index.Query, workspace int64, r ranking) ([]knowledge.Hit, error) {
	allowed, err := scope(q, workspace)
	if err != nil {
		return nil, err
	}
	s := scopedSearch{db: x.statements, ranking: r, scope: allowed, limit: q.Limit, keep: len(q.Filter) == 0 && len(q.Documents) == 0 && q.Granted.Allowed.IsEmpty() && q.Granted.Denied.IsEmpty()}
	k := withSpare(q.Limit)
	if s.keep {
		if hits, complete, err := s.check(ctx, k); err != nil || complete {
			return hits, err
		}
		k *= 4
	}
	entries, err := s.allowed(ctx, maxCompared+1)
	if err != nil {
		return nil, err
	}
	if len(entries) > maxCompared {
		for ; k <= max(maxCandidates, withSpare(q.Limit)); k *= 4 {
			if hits, complete, err := s.check(ctx, k); err != nil || complete {
				return hits, err
			}
		}
		if entries, err = s.allowed(ctx, -1); err != nil {
			return nil, err
		}
	}
	ranked, err := r.among(ctx, entries, max(maxCandidates, q.Limit))
	if err != nil {
		return nil, err
	}
	return s.hits(ctx, ranked)
}

type scopedSearch struct {
	db      *statements
	ranking ranking
	scope   condition
	limit   int
	keep    bool // the statements are the same for the next search
}

// check returns the entries among the k best that are allowed. complete is true
// if no other entry can be among the hits: there are no more, or the last hit is
// better than the last of the k.
func (s *scopedSearch) check(ctx context.Context, k int) (hits []knowledge.Hit, complete bool, err error) {
	ranked, err := s.ranking.best(ctx, k)
	if err != nil {
		return nil, false, err
	}
	hits, err = s.hits(ctx, ranked)
	complete = len(ranked) < k || len(hits) == s.limit && hits[len(hits)-1].Score > ranked[len(ranked)-1].score
	return hits, complete, err
}

// hits returns the entries that are allowed, best first.
func (s *scopedSearch) hits(ctx context.Context, ranked []scored) ([]knowledge.Hit, error) {
	if len(ranked) == 0 {
		return nil, nil
	}
	scores, ids := make(map[int64]float64, len(ranked)), make([]int64, len(ranked))
	for i, r := range ranked {
		scores[r.entry], ids[i] = r.score, r.entry
	}
	rows, err := s.db.query(ctx, query{
		sql: `SELECT e.id, e.chunk_id, v.document_id, v.version FROM json_each(?) c
			CROSS JOIN entries e ON e.id = c.value CROSS JOIN versions v ON v.id = e.version_id WHERE ` + s.scope.sql,
		args: append([]any{jsonList(ids)}, s.scope.args...), keep: s.keep,
	})
	if err != nil {
		return nil, fmt.Errorf("check the permission of entries: %w", err)
	}
	defer rows.Close()
	var hits []knowledge.Hit
	for rows.Next() {
		var id int64
		var h knowledge.Hit
		if err := rows.Scan(&id, &h.ChunkID, &h.DocumentID, &h.Version); err != nil {
			return nil, fmt.Errorf("check the permission of entries: %w", err)
		}
		h.Score = scores[id]
		hits = append(hits, h)
	}
	slices.SortFunc(hits, func(a, b knowledge.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ChunkID, b.ChunkID))
	})
	return hits[:min(len(hits), s.limit)], rows.Err()
}

// allowed returns the ids of the entries that the query may find in ascending
// order, at most limit of them; -1 = all.
func (s *scopedSearch) allowed(ctx context.Context, limit int) ([]int64, error) {
	rows, err := s.db.query(ctx, query{
		sql:  "SELECT e.id FROM versions v CROSS JOIN entries e ON e.version_id = v.id WHERE " + s.scope.sql + " LIMIT +?",
		args: append(slices.Clone(s.scope.args), limit), keep: s.keep,
	})
	if err != nil {
		return nil, fmt.Errorf("list allowed entries: %w", err)
	}
	defer rows.Close()
	var ids []int64
	for rows.Next() {
		var id int64
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("list allowed entries: %w", err)
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids, rows.Err()
}
