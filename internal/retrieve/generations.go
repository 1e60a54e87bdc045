package retrieve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// settingEmbeddings names the failure of a generation whose model cannot be asked.
const settingEmbeddings = "embeddings"

// Generations finds the generations of vectors that a search reads.
type Generations interface {
	// SearchedGenerations returns the generations that a search of projects reads, each
	// with its projects. Empty projects means all that the principal covers.
	SearchedGenerations(ctx context.Context, p knowledge.Principal, projects []string) ([]store.SearchedGeneration, error)
}

// ErrCannotBeAsked marks the error of an Embedder whose endpoint refuses the model, or of a
// generation that has no endpoint. A search then continues by words.
var ErrCannotBeAsked = errors.New("this embedding model cannot be asked")

// Across returns a Retriever that asks each generation of vectors with its own model. of
// returns the model of a generation; its error is one that ErrCannotBeAsked marks.
func (r *Retriever) Across(g Generations, of func(generation string) (Embedder, error)) *Retriever {
	next := *r
	next.generations, next.embedderOf = g, of
	return &next
}

// group are the projects of a generation.
type group struct {
	store.SearchedGeneration

	embed   Embedder
	vectors [][]float32 // of the probes, nil before they are embedded
	byWords bool        // its model cannot be asked
}

// groups returns the generations to search. The model of one that cannot be asked is noted.
func (s *search) groups(ctx context.Context) ([]*group, error) {
	if s.generations == nil {
		return []*group{{embed: s.embed, vectors: s.vectors[""]}}, nil
	}
	read, err := s.generations.SearchedGenerations(ctx, s.request.Principal, s.request.Projects)
	if err != nil {
		return nil, fmt.Errorf("read the generations: %w", err)
	}
	list := make([]*group, len(read))
	for i, g := range read {
		list[i] = &group{SearchedGeneration: g, vectors: s.vectors[g.Name]}
		list[i].embed, err = s.embedderOf(g.Name)
		if err != nil {
			list[i].byWords = true
			s.cannotBeAsked(ctx, err)
		}
	}
	return list, nil
}

func (s *search) cannotBeAsked(ctx context.Context, err error) {
	if s.searchesByVector() {
		s.failed(settingEmbeddings, failureOf(ctx, err), err)
	}
}

// moved reports whether the generations to search are others than those that were.
func (s *search) moved(ctx context.Context, searched []*group) (bool, error) {
	if s.generations == nil {
		return false, nil
	}
	now, err := s.generations.SearchedGenerations(ctx, s.request.Principal, s.request.Projects)
	if err != nil {
		return false, fmt.Errorf("read the generations: %w", err)
	}
	return !slices.EqualFunc(now, searched, func(a store.SearchedGeneration, b *group) bool {
		return a.Name == b.Name && slices.Equal(a.Projects, b.Projects)
	}), nil
}

// strategy is the one with which a group is searched.
func (s *search) strategy(g *group) string {
	if g.byWords {
		return knowledge.StrategyBM25
	}
	return s.request.Config.Strategy
}

// across fuses the hits of several generations by their ranks: the scores of different
// models cannot be compared. A score is relative to the best rank.
func across(lists [][]knowledge.Hit) []knowledge.Hit {
	var fused []knowledge.Hit
	for _, list := range lists {
		fused = append(fused, rescore(list, func(_ knowledge.Hit, rank int) float64 {
			return (rrfConstant + 1) / float64(rrfConstant+rank)
		})...)
	}
	slices.SortFunc(fused, func(a, b knowledge.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.ChunkID, b.ChunkID))
	})
	return fused
}
