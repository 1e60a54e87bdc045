package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/sse"
)

// question measures questions over SSE with an instant model.
func question(ctx context.Context, b *bench) error {
	list, err := b.abstracts()
	if err != nil {
		return err
	}
	texts, _, err := b.queries()
	if err != nil {
		return err
	}
	m := modeltest.New(modeltest.Options{Tokens: 60})
	defer m.Close()
	s, _, err := b.serve(ctx, modelAt(m.URL())...)
	if err != nil {
		return err
	}
	defer s.stop()
	if _, err := s.upload(ctx, list[:200], 8); err != nil {
		return err
	}
	fmt.Println("| clients | first event p50 / p95 ms | first token p50 / p95 ms | end p50 / p95 ms | questions/s | CPU ms a question |")
	fmt.Println("|---|---|---|---|---|---|")
	var ask asker
	for _, clients := range []int{1, 8, 32} {
		n := 100 + 15*clients
		one := func(ctx context.Context, i int) error { return ask.ask(ctx, s, texts[i%len(texts)]) }
		if _, err := load(ctx, clients, 2*clients, one); err != nil { // to warm up
			return err
		}
		ask = asker{}
		before := s.cpu()
		took, err := load(ctx, clients, n, one)
		if err != nil {
			return err
		}
		fmt.Printf("| %d | %.0f / %.0f | %.0f / %.0f | %.0f / %.0f | %.0f | %.0f |\n", clients,
			ask.first.quantile(.5), ask.first.quantile(.95), ask.token.quantile(.5), ask.token.quantile(.95),
			ask.end.quantile(.5), ask.end.quantile(.95), float64(n)/took.Seconds(), (s.cpu()-before)*1000/float64(n))
	}
	events, err := historyLength(ctx, s, ask.last.Load().(string))
	if err != nil {
		return err
	}
	fmt.Printf("\n%d history events an answer of 60 tokens.\n", events)
	return nil
}

// asker gathers what questions took.
type asker struct {
	first, token, end samples
	last              atomic.Value // a run: string
}

func (a *asker) ask(ctx context.Context, s *server, text string) error {
	begin := time.Now()
	response, err := s.open(ctx, "POST", "/workspaces/default/webhooks/query?compact=true", map[string]any{"text": text, "projectId": "default", "sse": true})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	seen := map[string]bool{}
	for e, err := range sse.Read(response.Body) {
		if err != nil {
			return err
		}
		took := time.Since(begin)
		if len(seen) == 0 {
			a.first.add(took)
		}
		if e.Name == "apiMessageChunk" && !seen[e.Name] {
			a.token.add(took)
		}
		seen[e.Name] = true
		if e.Name == "error" {
			return fmt.Errorf("the question failed: %s", e.Data)
		}
		if e.Name == "completedMessage" {
			a.end.add(took)
			a.last.Store(response.Header.Get("Cairn-Run-Id"))
			return nil
		}
	}
	return errors.New("the stream ended without an answer")
}
