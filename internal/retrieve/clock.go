package retrieve

import (
	"maps"
	"sync"
	"time"
)

// clock measures the time of the stages of one search.
type clock struct {
	mu    sync.Mutex
	spent map[string]time.Duration
}

func newClock() *clock { return &clock{spent: map[string]time.Duration{}} }

// start starts the time of a stage. The returned function stops it.
func (c *clock) start(stage string) func() {
	began := time.Now()
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.spent[stage] += time.Since(began)
	}
}

func (c *clock) times() map[string]time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.spent)
}
