package blob

import (
	"container/list"
	"sync"
)

// maxCached bounds the bytes that the cache holds.
const maxCached = 4 << 20

// cache holds the small blobs that were written last: mostly a step of a workflow
// reads what the step before it wrote. Reads do not add to it, so it never holds
// anything older than the file.
type cache struct {
	limit int

	mu    sync.Mutex
	bytes int
	order *list.List // of row, the oldest first
	rows  map[string]*list.Element
}

func newCache(limit int) *cache {
	return &cache{limit: limit, order: list.New(), rows: map[string]*list.Element{}}
}

// get returns the bytes under key, which the caller must not change.
func (c *cache) get(key string) ([]byte, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.rows[key]; ok {
		return e.Value.(row).data, true
	}
	return nil, false
}

// keep holds rows that were committed, in the order of the commit. Deleted ones
// it forgets.
func (c *cache) keep(rows []row) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range rows {
		c.dropKey(r.key)
		if r.delete || r.replaces != nil { // others may be there
			continue
		}
		c.rows[r.key] = c.order.PushBack(r)
		c.bytes += len(r.key) + len(r.data)
	}
	for c.bytes > c.limit {
		c.dropKey(c.order.Front().Value.(row).key)
	}
}

func (c *cache) dropKey(key string) {
	e, ok := c.rows[key]
	if !ok {
		return
	}
	r := c.order.Remove(e).(row)
	delete(c.rows, key)
	c.bytes -= len(r.key) + len(r.data)
}
