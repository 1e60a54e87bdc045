package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"
)

// retrieve measures /retrieve-context at 1,400 documents with the offline model.
func retrieve(ctx context.Context, b *bench) error {
	s, texts, _, err := b.withCranfield(ctx)
	if err != nil {
		return err
	}
	defer s.stop()
	if err := s.rest(ctx); err != nil {
		return err
	}
	fmt.Println("| clients | p50 ms | p95 ms | requests/s |")
	fmt.Println("|---|---|---|---|")
	for _, clients := range []int{1, 8} {
		var times samples
		took, err := load(ctx, clients, 400, func(ctx context.Context, i int) error {
			begin := time.Now()
			defer func() { times.add(time.Since(begin)) }()
			return s.send(ctx, "POST", "/workspaces/default/webhooks/retrieve-context",
				map[string]any{"text": texts[i%len(texts)], "projectId": "default"}, nil)
		})
		if err != nil {
			return err
		}
		fmt.Printf("| %d | %.1f | %.1f | %.0f |\n", clients, times.quantile(.5), times.quantile(.95), 400/took.Seconds())
	}
	return nil
}

// rest waits until the server has done what the uploads left to do: until it
// takes less than a twentieth of a processor for a second.
func (s *server) rest(ctx context.Context) error {
	for began := time.Now(); time.Since(began) < time.Minute; {
		before := s.cpu()
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return ctx.Err()
		}
		if s.cpu()-before < .05 {
			return nil
		}
	}
	return errors.New("the server has not come to rest within a minute")
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
	if _, err := s.upload(ctx, list, 8); err != nil {
		s.stop()
		return nil, nil, nil, err
	}
	return s, texts, relevant, nil
}

// cranfield measures the quality of the ranking through the API.
func cranfield(ctx context.Context, b *bench) error {
	s, texts, relevant, err := b.withCranfield(ctx)
	if err != nil {
		return err
	}
	defer s.stop()
	names, err := s.externalIDs(ctx)
	if err != nil {
		return err
	}
	fmt.Println("| ranking | nDCG@10 | recall@10 |")
	fmt.Println("|---|---|---|")
	for _, strategy := range []string{"hybrid", "dense", "bm25"} {
		if err := s.send(ctx, "PATCH", "/workspaces/default/projects/default",
			map[string]any{"ai": map[string]any{"retrieval": map[string]any{"strategy": strategy}}}, nil); err != nil {
			return err
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
				return err
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
		fmt.Printf("| %s | %.4f | %.4f |\n", strategy, ndcg, recall)
	}
	return nil
}

// judge gives nDCG and recall of at most ten ranked documents.
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

// externalIDs gives the external id of each document.
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
