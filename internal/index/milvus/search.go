package milvus

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/milvus-io/milvus/client/v2/column"
	"github.com/milvus-io/milvus/client/v2/entity"
	"github.com/milvus-io/milvus/client/v2/index"
	"github.com/milvus-io/milvus/client/v2/milvusclient"

	port "github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Dense returns the entries whose vectors are nearest to vector, as the index of
// their collection finds them.
func (x *Index) Dense(ctx context.Context, q port.Query, vector []float32) ([]knowledge.Hit, error) {
	leave, filter, err := x.begin(q)
	if err != nil {
		return nil, err
	}
	defer leave()
	normal, err := port.Normalised(vector)
	if err != nil {
		return nil, fmt.Errorf("search for a vector: %w", err)
	}
	if normal == nil {
		return nil, nil
	}
	c, ok, err := x.find(ctx, q.Generation)
	if err != nil || !ok {
		return nil, err
	}
	if c.dimension != len(vector) {
		return nil, port.OtherLength(q.Generation, c.dimension, len(vector))
	}
	hits, err := x.search(ctx, search{collection: c.name, filter: filter, limit: q.Limit,
		field: fieldVector, metric: entity.COSINE, query: entity.FloatVector(normal), param: x.cfg.searchParam(q.Limit)})
	return hits, typed(err, "search for a vector")
}

// BM25 returns the entries that share words with text, from the collection of the
// query's generation and the collection of entries without a vector.
func (x *Index) BM25(ctx context.Context, q port.Query, text string) ([]knowledge.Hit, error) {
	leave, filter, err := x.begin(q)
	if err != nil {
		return nil, err
	}
	defer leave()
	sent := questionText(text)
	if sent == "" {
		return nil, nil
	}
	known, err := x.known(ctx)
	if err != nil {
		return nil, err
	}
	var all []knowledge.Hit
	for _, c := range known {
		if c.dimension > 0 && c.generation != generationID(q.Generation) {
			continue
		}
		hits, err := x.search(ctx, search{collection: c.name, filter: filter, limit: q.Limit,
			field: fieldSparse, metric: entity.BM25, query: entity.Text(sent)})
		if err != nil {
			return nil, typed(err, "search for words")
		}
		all = append(all, hits...)
	}
	slices.SortFunc(all, bestFirst)
	return all[:min(len(all), q.Limit)], nil
}

// begin checks the query and enters the index.
func (x *Index) begin(q port.Query) (leave func(), filter string, err error) {
	if err := q.Check(); err != nil {
		return nil, "", err
	}
	if filter, err = scope(q); err != nil {
		return nil, "", err
	}
	leave, err = x.enter()
	return leave, filter, err
}

func bestFirst(a, b knowledge.Hit) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ChunkID, b.ChunkID))
}

// search is one search in one collection.
type search struct {
	collection string
	filter     string
	limit      int
	field      string
	metric     entity.MetricType
	query      entity.Vector
	param      index.AnnParam // nil = none
}

func (x *Index) search(ctx context.Context, s search) ([]knowledge.Hit, error) {
	option := milvusclient.NewSearchOption(s.collection, s.limit, []entity.Vector{s.query}).WithANNSField(s.field).
		WithFilter(s.filter).WithConsistencyLevel(entity.ClStrong).WithOutputFields(fieldChunk, fieldDocument, fieldVersion).
		WithSearchParam(index.MetricTypeKey, string(s.metric))
	if s.param != nil {
		option = option.WithAnnParam(s.param)
	}
	var results []milvusclient.ResultSet
	err := x.loaded(ctx, s.collection, func() (err error) {
		results, err = x.client.Search(ctx, option)
		return err
	})
	if err != nil || len(results) == 0 {
		return nil, err
	}
	if results[0].Err != nil {
		return nil, results[0].Err
	}
	hits, err := hitsOf(results[0], s.metric)
	slices.SortFunc(hits, bestFirst)
	return hits, err
}

func hitsOf(r milvusclient.ResultSet, metric entity.MetricType) ([]knowledge.Hit, error) {
	hits := make([]knowledge.Hit, 0, r.ResultCount)
	chunks, documents, versions := r.GetColumn(fieldChunk), r.GetColumn(fieldDocument), r.GetColumn(fieldVersion)
	for i := range r.ResultCount {
		hit := knowledge.Hit{Score: float64(r.Scores[i])}
		if metric == entity.BM25 {
			// Milvus returns positive scores, its light server negative ones.
			hit.Score = math.Abs(hit.Score)
		}
		if metric == entity.BM25 && hit.Score == 0 {
			continue // no word is shared
		}
		var err error
		if hit.ChunkID, err = stringAt(chunks, i); err != nil {
			return nil, err
		}
		if hit.DocumentID, err = stringAt(documents, i); err != nil {
			return nil, err
		}
		version, err := numberAt(versions, i)
		if err != nil {
			return nil, err
		}
		hit.Version = int(version)
		hits = append(hits, hit)
	}
	return hits, nil
}

func stringAt(c column.Column, i int) (string, error) {
	if c == nil {
		return "", fmt.Errorf("a field is missing in the result")
	}
	return c.GetAsString(i)
}

func numberAt(c column.Column, i int) (int64, error) {
	if c == nil {
		return 0, fmt.Errorf("a field is missing in the result")
	}
	return c.GetAsInt64(i)
}
