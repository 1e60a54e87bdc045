package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// completions measures chat completions without documents: the time to the first token of
// the model's own endpoint and through the server, in turn.
func completions(ctx context.Context, b *bench) (figures []figure, err error) {
	m := modeltest.New(modeltest.Options{Tokens: 60})
	defer m.Close()
	s, _, err := b.serveWithModel(ctx, m)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.remove()) }()
	direct := remote{url: strings.TrimSuffix(m.URL(), "/v1"), key: "none"}
	for _, clients := range []int{1, 8} {
		var alone, through samples
		for range 10 { // rounds, so that a slow spell of the machine meets both
			for to, times := range map[remote]*samples{direct: &alone, s.remote(): &through} {
				_, err := load(ctx, clients, 20*clients, func(ctx context.Context, _ int) error { return complete(ctx, to, times) })
				if err != nil {
					return nil, err
				}
			}
		}
		named := func(name string) string { return name + ", " + clientCount(clients) }
		figures = append(figures,
			lower(named("first token of the model p50 ms"), alone.quantile(.5)),
			lower(named("first token of /v1/chat/completions p50 ms"), through.quantile(.5)),
			lower(named("added by the server p50 ms"), through.quantile(.5)-alone.quantile(.5)).aim(15))
	}
	return figures, nil
}

// complete streams one chat completion and notes when its first token came.
func complete(ctx context.Context, to remote, times *samples) error {
	begin := time.Now()
	response, err := to.open(ctx, "POST", "/v1/chat/completions", map[string]any{
		"model": modeltest.ModelName, "stream": true, "messages": []map[string]string{{"role": "user", "content": "Hello"}},
	})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	found := false
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if !found && strings.Contains(lines.Text(), `"content":"word`) {
			found = true
			times.add(time.Since(begin))
		}
	}
	if !found {
		return fmt.Errorf("the completion has no words: %w", io.ErrUnexpectedEOF)
	}
	return nil
}
