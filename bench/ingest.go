package main

import (
	"context"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// modelAt points the server at a stand-in model.
func modelAt(url string) []string {
	env := []string{}
	for _, kind := range []string{"CHAT", "EMBEDDING"} {
		env = append(env, "CAIRN_MODELS__"+kind+"__BASE_URL="+url, "CAIRN_MODELS__"+kind+"__MODEL=stand-in")
	}
	return env
}

// upload posts the abstracts one by one and waits until all are published.
func (s *server) upload(ctx context.Context, list []abstract, clients int) (time.Duration, error) {
	begin := time.Now()
	_, err := load(ctx, clients, len(list), func(ctx context.Context, i int) error {
		a := list[i]
		text := a.title + "\n\n" + a.text
		if a.text == "" { // two abstracts have none
			text = "There is no text of abstract " + a.id + "."
		}
		body := map[string]any{"name": "abstract " + a.id, "externalId": a.id, "content": map[string]any{"text": text}}
		return s.send(ctx, "POST", "/workspaces/default/webhooks/document?projectId=default", body, nil)
	})
	if err != nil {
		return 0, err
	}
	for {
		var page struct{ Total int }
		if err := s.send(ctx, "GET", "/workspaces/default/webhooks/documents?projectId=default&status=published&limit=1", nil, &page); err != nil {
			return 0, err
		}
		if page.Total >= len(list) {
			return time.Since(begin), nil
		}
		if time.Since(begin) > 10*time.Minute {
			return 0, fmt.Errorf("%d of %d documents were published in 10 minutes", page.Total, len(list))
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// ingest measures single uploads of short documents by 8 clients.
func ingest(ctx context.Context, b *bench) error {
	list, err := b.abstracts()
	if err != nil {
		return err
	}
	m := modeltest.New(modeltest.Options{})
	defer m.Close()
	s, cold, err := b.serve(ctx, modelAt(m.URL())...)
	if err != nil {
		return err
	}
	defer s.stop()
	idle, before := s.residentMB(), s.cpu()
	took, err := s.upload(ctx, list, 8)
	if err != nil {
		return err
	}
	fmt.Println("| documents | clients | documents/s | CPU s of the server and its parsers | server's RSS idle MB | server's RSS highest MB | first start s |")
	fmt.Println("|---|---|---|---|---|---|---|")
	fmt.Printf("| %d | 8 | %.1f | %.1f | %.0f | %.0f | %.2f |\n",
		len(list), float64(len(list))/took.Seconds(), s.cpu()-before, idle, s.peakMB(), cold.Seconds())
	if err := s.kill(); err != nil {
		return err
	}
	warm, err := s.start(ctx)
	if err != nil {
		return err
	}
	fmt.Printf("\nReady again after SIGKILL in %.2f s.\n", warm.Seconds())
	return nil
}
