package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
)

// ranking is a configuration of the project's searches.
type ranking struct {
	name   string
	config map[string]any // ai.retrieval
}

var rankings = []ranking{
	{"hybrid", map[string]any{"strategy": "hybrid"}},
	{"dense", map[string]any{"strategy": "dense"}},
	{"bm25", map[string]any{"strategy": "bm25"}},
	{"rrf", map[string]any{"strategy": "hybrid", "fusion": "rrf"}},
	{"multi_stage", map[string]any{"strategy": "multi_stage", "reranker": "none"}},
}

// quality is the mean of all questions with judgements.
type quality struct{ ndcg, recall float64 }

// cranfield measures the ranking through the API, with the offline model.
func cranfield(ctx context.Context, b *bench) ([]figure, error) {
	found, err := b.qualities(ctx)
	if err != nil {
		return nil, err
	}
	return qualityFigures("", found), nil
}

// retrieval measures the ranking through the API with the offline model and with
// all-MiniLM-L6-v2, in one run.
func retrieval(ctx context.Context, b *bench) (figures []figure, err error) {
	offline, err := b.qualities(ctx)
	if err != nil {
		return nil, err
	}
	figures = qualityFigures("offline model: ", offline)
	m, err := startMiniLM(ctx)
	if errors.Is(err, errNoPeer) {
		fmt.Fprintf(b.out, "%v\n\n", err)
		return figures, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	mini, err := b.qualities(ctx, m.env()...)
	if err != nil {
		return nil, err
	}
	figures = append(figures, qualityFigures("MiniLM: ", mini)...)
	gain := mini["hybrid"].ndcg - offline["hybrid"].ndcg
	return append(figures,
		higher("MiniLM: nDCG@10, hybrid, target of the model", mini["hybrid"].ndcg).aim(.42),
		higher("nDCG@10, hybrid, MiniLM - offline model", gain).aim(0)), nil
}

// qualityFigures lists the qualities by ranking, and how far hybrid is from its
// best leg.
func qualityFigures(model string, found map[string]quality) (figures []figure) {
	for _, r := range rankings {
		figures = append(figures,
			higher(model+"nDCG@10, "+r.name, found[r.name].ndcg), higher(model+"recall@10, "+r.name, found[r.name].recall))
	}
	best := math.Max(found["dense"].ndcg, found["bm25"].ndcg)
	return append(figures, higher(model+"nDCG@10, hybrid - best leg", found["hybrid"].ndcg-best).aim(-.005))
}

// qualities returns the quality of each ranking on the collection, by name.
func (b *bench) qualities(ctx context.Context, env ...string) (found map[string]quality, err error) {
	s, texts, relevant, err := b.withCranfield(ctx, env...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.remove()) }()
	names, err := s.externalIDs(ctx)
	if err != nil {
		return nil, err
	}
	found = map[string]quality{}
	for _, r := range rankings {
		config := maps.Clone(r.config)
		if config["fusion"] == nil {
			config["fusion"] = "weighted" // not the fusion of the ranking before
		}
		patch := map[string]any{"ai": map[string]any{"retrieval": config}}
		if err := s.send(ctx, "PATCH", "/workspaces/default/projects/default", patch, nil); err != nil {
			return nil, err
		}
		var sum quality
		for i, text := range texts {
			ranked, err := s.ranked(ctx, text, names)
			if err != nil {
				return nil, err
			}
			ndcg, recall := judge(ranked, relevant[i])
			sum.ndcg, sum.recall = sum.ndcg+ndcg, sum.recall+recall
		}
		n := float64(len(texts))
		found[r.name] = quality{sum.ndcg / n, sum.recall / n}
	}
	return found, nil
}

// ranked returns the external ids of the ten best documents for a question. A
// document counts at its best chunk.
func (s *server) ranked(ctx context.Context, text string, names map[string]string) (ranked []string, err error) {
	var found struct {
		Chunks []struct {
			DocumentID string `json:"documentId"`
		}
	}
	body := map[string]any{"text": text, "projectId": "default", "numberOfChunks": 30}
	if err := s.send(ctx, "POST", "/workspaces/default/webhooks/retrieve-context", body, &found); err != nil {
		return nil, err
	}
	for _, c := range found.Chunks {
		if name := names[c.DocumentID]; len(ranked) < 10 && !slices.Contains(ranked, name) {
			ranked = append(ranked, name)
		}
	}
	return ranked, nil
}
