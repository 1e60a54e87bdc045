package embedded

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	// maxNearest is the largest number of neighbours that vec0 returns.
	maxNearest = 4096
)

// Dense returns the entries whose vectors are nearest to vector. It has three
// ways of searching. All return the same exact result, at different cost.
//
// If only permission narrows the search, most neighbours are allowed: one
// statement finds the nearest of the partition and drops those that are not
// allowed. If too few are left, or if the query has a filter, the allowed
// entries are compared one by one if they are few. Otherwise the scan gets them
// as the rows that it may consider.
func (x *Index) Dense(ctx context.Context, q index.Query, vector []float32) ([]knowledge.Hit, error) {
	s, err := x.newDenseSearch(ctx, q, vector)
	if err != nil || s == nil {
		return nil, err
	}
	if len(q.Filter) == 0 && len(q.Documents) == 0 {
		hits, complete, err := s.nearest(ctx, withSpare(q.Limit), false)
		if err != nil || complete {
			return hits, err
		}
	}
	few, err := s.fewAllowed(ctx)
	if err != nil {
		return nil, err
	}
	if few {
		return s.compare(ctx)
	}
	for k := withSpare(q.Limit); ; k *= 4 {
		hits, complete, err := s.nearest(ctx, k, true)
		if err != nil || complete || k >= maxNearest {
			return hits, err
		}
	}
}

type denseSearch struct {
	db        *statements
	table     string
	dimension int
	workspace int64
	project   string // "" = several
	limit     int
	vector    []byte
	scope     condition
}

// newDenseSearch returns nil if there is nothing to find.
func (x *Index) newDenseSearch(ctx context.Context, q index.Query, vector []float32) (*denseSearch, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	bytes, err := normalised(vector)
	if err != nil {
		return nil, fmt.Errorf("search for a vector: %w", err)
	}
	workspace, err := x.workspace(ctx, q.Principal.Workspace())
	if err != nil || workspace == 0 || bytes == nil {
		return nil, err
	}
	g, found, err := x.findGeneration(ctx, q.Generation)
	if err != nil || !found {
		return nil, err
	}
	if g.dimension != len(vector) {
		return nil, index.OtherLength(q.Generation, g.dimension, len(vector))
	}
	s := &denseSearch{db: x.statements, table: g.table, dimension: g.dimension,
		workspace: workspace, limit: q.Limit, vector: bytes}
	if projects := q.InProjects(); len(projects) == 1 {
		s.project = projects[0]
	}
	s.scope, err = scope(q, workspace)
	return s, err
}

// nearest finds the k nearest vectors of the partition, or of its allowed rows,
// and returns those that are allowed. complete is true if no other vector could
// be among the hits: there were no more, or the last hit is nearer than the
// farthest neighbour found.
func (s *denseSearch) nearest(ctx context.Context, k int, allowedOnly bool) (hits []knowledge.Hit, complete bool, err error) {
	k = min(k, maxNearest)
	near := condition{"vector MATCH ? AND k = ? AND workspace = ?", []any{s.vector, k, s.workspace}}
	if s.project != "" {
		near.sql += " AND project = ?"
		near.args = append(near.args, s.project)
	}
	if allowedOnly {
		near.sql += " AND rowid IN (SELECT e.id " + s.allowed() + ")"
		near.args = append(near.args, s.scope.args...)
	}
	statement := "WITH near AS MATERIALIZED (SELECT rowid AS id, distance FROM " + s.table + " WHERE " + near.sql + `)
		SELECT e.chunk_id, v.document_id, v.version, near.distance,
			(SELECT count(*) FROM near), (SELECT max(distance) FROM near)
		FROM near CROSS JOIN entries e ON e.id = near.id CROSS JOIN versions v ON v.id = e.version_id
		WHERE ` + s.scope.sql + ` ORDER BY near.distance, e.chunk_id LIMIT +?`
	var seen int
	var farthest, distance float64
	args := append(append(near.args, s.scope.args...), s.limit)
	hits, err = s.run(ctx, query{statement, args, !allowedOnly}, &distance, &seen, &farthest)
	if err != nil {
		return nil, false, err
	}
	// Without a hit, seen is not set: the allowed vectors, if any, are farther.
	exhausted := len(hits) > 0 && seen < k || len(hits) == 0 && allowedOnly
	return hits, exhausted || len(hits) == s.limit && distance < farthest, nil
}

// compare computes the distance of each allowed entry.
func (s *denseSearch) compare(ctx context.Context) ([]knowledge.Hit, error) {
	statement := "SELECT e.chunk_id, v.document_id, v.version, vec_distance_l2(d.vector, ?) AS distance FROM versions v" +
		" CROSS JOIN entries e ON e.version_id = v.id CROSS JOIN " + s.table + " d ON d.rowid = e.id" +
		" WHERE e.dimension > 0 AND " + s.scope.sql + " ORDER BY distance, e.chunk_id LIMIT ?"
	var distance float64
	args := append([]any{s.vector}, s.scope.args...)
	return s.run(ctx, query{sql: statement, args: append(args, s.limit)}, &distance)
}

func (s *denseSearch) fewAllowed(ctx context.Context) (bool, error) {
	var n int
	args := append(append([]any{}, s.scope.args...), maxCompared+1)
	err := s.db.pool.QueryRowContext(ctx, "SELECT count(*) FROM (SELECT 1 "+s.allowed()+" LIMIT ?)", args...).Scan(&n)
	if err != nil {
		return false, fmt.Errorf("count the entries to compare: %w", err)
	}
	return n <= maxCompared, nil
}

// allowed returns FROM and WHERE clauses for the entries that the query may
// find.
func (s *denseSearch) allowed() string {
	return "FROM versions v CROSS JOIN entries e ON e.version_id = v.id WHERE e.dimension > 0 AND " + s.scope.sql
}

// run returns hits whose fourth column is their distance. Further columns are
// scanned into more.
func (s *denseSearch) run(ctx context.Context, q query, distance *float64, more ...any) ([]knowledge.Hit, error) {
	hits, err := s.db.hits(ctx, q, append([]any{distance}, more...), func() float64 {
		return 1 - *distance**distance/2 // the cosine of vectors of length 1
	})
	if err != nil {
		return nil, fmt.Errorf("search among vectors of %d: %w", s.dimension, err)
	}
	return hits, nil
}
