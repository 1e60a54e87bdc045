package main

import (
	"context"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// pagesEvery is the time between two looks at a document whose pages are read.
const pagesEvery = 3 * time.Second

// followPages shows from time to time a document whose pages are read, until stop is called:
// the events of its run report stages only. It requests nothing in other stages, which
// extracting reports. Requests that fail are left out.
func followPages(ctx context.Context, c *client.Client, id string, extracting func() bool, show func(client.Document)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(pagesEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			if !extracting() {
				continue
			}
			d, err := c.Document(ctx, id)
			if err == nil && d.Stage == knowledge.StageExtract && extracting() {
				show(d)
			}
		}
	}()
	return func() { cancel(); <-stopped }
}
