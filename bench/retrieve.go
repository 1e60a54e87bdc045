package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// retrieve measures /retrieve-context with the offline model.
func retrieve(ctx context.Context, b *bench) (figures []figure, err error) {
	s, texts, _, err := b.withCranfield(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.remove()) }()
	if err := s.rest(ctx); err != nil {
		return nil, err
	}
	for _, clients := range []int{1, 8} {
		var times samples
		took, err := load(ctx, clients, 400, func(ctx context.Context, i int) error {
			begin := time.Now()
			defer func() { times.add(time.Since(begin)) }()
			return s.send(ctx, "POST", "/workspaces/default/webhooks/retrieve-context",
				map[string]any{"text": texts[i%len(texts)], "projectId": "default"}, nil)
		})
		if err != nil {
			return nil, err
		}
		p50 := lower("search p50 ms, "+clientCount(clients), times.quantile(.5))
		if clients == 1 {
			p50 = p50.aim(8)
		}
		figures = append(figures, p50,
			lower("search p95 ms, "+clientCount(clients), times.quantile(.95)),
			higher("searches/s, "+clientCount(clients), 400/took.Seconds()))
	}
	return figures, nil
}

// withCranfield starts a server with the offline model and the collection.
func (b *bench) withCranfield(ctx context.Context) (*server, []string, []map[string]bool, error) {
	list, err := b.abstracts()
	if err != nil {
		return nil, nil, nil, err
	}
	texts, relevant, err := b.queries()
	if err != nil {
		return nil, nil, nil, err
	}
	s, _, err := b.serve(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	if _, err := s.upload(ctx, list[:b.documents]); err != nil {
		return nil, nil, nil, errors.Join(err, s.remove())
	}
	return s, texts, relevant, nil
}

// cranfield measures the quality of the ranking through the API.
func cranfield(ctx context.Context, b *bench) (figures []figure, err error) {
	s, texts, relevant, err := b.withCranfield(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.remove()) }()
	names, err := s.externalIDs(ctx)
	if err != nil {
		return nil, err
	}
	for _, strategy := range []string{"hybrid", "dense", "bm25"} {
		if err := s.send(ctx, "PATCH", "/workspaces/default/projects/default",
			map[string]any{"ai": map[string]any{"retrieval": map[string]any{"strategy": strategy}}}, nil); err != nil {
			return nil, err
		}
		ndcg, recall := 0.0, 0.0
		for i, text := range texts {
			var found struct {
				Chunks []struct {
					DocumentID string `json:"documentId"`
				}
			}
			body := map[string]any{"text": text, "projectId": "default", "numberOfChunks": 30}
			if err := s.send(ctx, "POST", "/workspaces/default/webhooks/retrieve-context", body, &found); err != nil {
				return nil, err
			}
			var ranked []string
			for _, c := range found.Chunks {
				if name := names[c.DocumentID]; len(ranked) < 10 && !slices.Contains(ranked, name) {
					ranked = append(ranked, name)
				}
			}
			n, r := judge(ranked, relevant[i])
			ndcg, recall = ndcg+n/float64(len(texts)), recall+r/float64(len(texts))
		}
		figures = append(figures, higher("nDCG@10, "+strategy, ndcg), higher("recall@10, "+strategy, recall))
	}
	return figures, nil
}

// judge returns nDCG and recall of at most ten ranked documents.
func judge(ranked []string, relevant map[string]bool) (ndcg, recall float64) {
	if len(relevant) == 0 {
		return 0, 0
	}
	gain, ideal, hits := 0.0, 0.0, 0.0
	for i, name := range ranked {
		if relevant[name] {
			gain += 1 / math.Log2(float64(i)+2)
			hits++
		}
	}
	for i := range min(len(relevant), 10) {
		ideal += 1 / math.Log2(float64(i)+2)
	}
	return gain / ideal, hits / float64(len(relevant))
}

// externalIDs returns the external id of each document by its id.
func (s *server) externalIDs(ctx context.Context) (map[string]string, error) {
	names := map[string]string{}
	for page := 0; ; page++ {
		var list struct {
			Documents []struct{ ID, ExternalID string }
			Total     int
		}
		path := fmt.Sprintf("/workspaces/default/webhooks/documents?projectId=default&limit=500&page=%d", page)
		if err := s.send(ctx, "GET", path, nil, &list); err != nil {
			return nil, err
		}
		for _, d := range list.Documents {
			names[d.ID] = d.ExternalID
		}
		if len(list.Documents) == 0 || len(names) >= list.Total {
			return names, nil
		}
	}
}
