package milvus

import (
	"context"
	"sync"
	"time"

	"github.com/milvus-io/milvus/client/v2/milvusclient"
)

// compactAfter is how long removals are collected before their collection is
// compacted, which rewrites its segments.
const compactAfter = time.Minute

// compactions are the collections that will be compacted.
type compactions struct {
	mu      sync.Mutex
	stopped bool
	pending map[string]*time.Timer
}

// ask compacts a collection after compactAfter, once for all that is removed
// until then. Milvus also compacts by itself, so a failure is only logged.
func (c *compactions) ask(x *Index, name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped || c.pending[name] != nil {
		return
	}
	c.pending[name] = time.AfterFunc(compactAfter, func() {
		c.mu.Lock()
		delete(c.pending, name)
		c.mu.Unlock()
		leave, err := x.enter()
		if err != nil {
			return // closed
		}
		defer leave()
		// The call that removed has ended long ago.
		ctx, cancel := context.WithTimeout(context.Background(), compactAfter)
		defer cancel()
		if _, err := x.client.Compact(ctx, milvusclient.NewCompactOption(name)); err != nil {
			x.cfg.Logger.Warn("Milvus does not compact now; it does so later by itself", "collection", name, "error", err)
		}
	})
}

func (c *compactions) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stopped = true
	for _, timer := range c.pending {
		timer.Stop()
	}
}
