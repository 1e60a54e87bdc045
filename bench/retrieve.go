package main

import (
	"context"
	"errors"
	"fmt"
	"math"
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

// withCranfield starts a server with the collection, and the offline model
// unless env names another.
func (b *bench) withCranfield(ctx context.Context, env ...string) (*server, []string, []map[string]bool, error) {
	list, err := b.abstracts()
	if err != nil {
		return nil, nil, nil, err
	}
	texts, relevant, err := b.queries()
	if err != nil {
		return nil, nil, nil, err
	}
	s, _, err := b.serve(ctx, env...)
	if err != nil {
		return nil, nil, nil, err
	}
	if _, err := s.upload(ctx, list[:b.documents]); err != nil {
		return nil, nil, nil, errors.Join(err, s.remove())
	}
	return s, texts, relevant, nil
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
