package stream

import "sync"

// Hub passes the items of a run to readers in the same process, before a query
// would find them. It is a cache and owns nothing: publishers append only items
// that are durable (a signal was acknowledged, a log was stored), the hub drops a
// run when its last reader leaves, and a reader that finds a gap queries the
// workflow. Safe for concurrent use.
type Hub struct {
	mu    sync.Mutex
	feeds map[string]*feed
}

type feed struct {
	readers    int
	base       int64 // offset of items[0]; meaningless while items is empty
	items      []Item
	publishing bool // a publisher in this process appends the items as they come
	ended      bool
	changed    chan struct{} // closed and replaced at each change

	fence fence // of the turns whose model call was repeated
}

// NewHub returns an empty hub.
func NewHub() *Hub { return &Hub{feeds: map[string]*feed{}} }

// Follow registers a reader of the run in this process, until stop is called. The
// hub keeps items only while a run has readers.
func (h *Hub) Follow(run string) (stop func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.feeds[run]
	if f == nil {
		f = &feed{changed: make(chan struct{})}
		h.feeds[run] = f
	}
	f.readers++
	return sync.OnceFunc(func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if f.readers--; f.readers == 0 {
			delete(h.feeds, run)
		}
	})
}

// Followed returns how many runs have readers in this process.
func (h *Hub) Followed() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.feeds)
}

// Append passes durable items to the readers of a run. Append skips items that
// the hub has already. If items are missing before the first one, the hub drops
// what it has and keeps the new items, and readers query for the missing ones.
func (h *Hub) Append(run string, items []Item) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.feeds[run]
	if f == nil || f.ended || len(items) == 0 || f.fenced(items[0]) {
		return
	}
	f.add(items)
	f.publishing = true
	f.wake()
}

// Pause records that the publisher of a run's items has ended. Readers query for
// the next items until a publisher appends again.
func (h *Hub) Pause(run string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f := h.feeds[run]; f != nil {
		f.pause()
	}
}

// Fence records that a newer attempt of a turn's model call has begun. The hub
// then refuses items of earlier attempts, as the log in the workflow does, and
// readers query for the items of the newer one.
func (h *Hub) Fence(run string, turn, attempt int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.feeds[run]
	if f == nil {
		return
	}
	f.fence.raise(turn, attempt)
	f.pause()
}

// Finish passes the last items of a run whose log is stored to its readers.
func (h *Hub) Finish(run string, items []Item) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.feeds[run]
	if f == nil || f.ended {
		return
	}
	f.add(items)
	f.ended = true
	f.wake()
}

// Publishing reports whether a publisher in this process appends the run's items
// as they come. When that changes, the channel that Since returned is closed.
func (h *Hub) Publishing(run string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.feeds[run]
	return f != nil && f.publishing
}

// Since returns the items that the hub has from the offset on. gap reports that
// the hub has only later items. changed is closed at the next change; it is nil
// if the run has no readers.
func (h *Hub) Since(run string, from int64) (items []Item, ended, gap bool, changed <-chan struct{}) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.feeds[run]
	if f == nil {
		return nil, false, false, nil
	}
	if len(f.items) == 0 {
		return nil, f.ended, f.ended, f.changed
	}
	if from < f.base {
		return nil, f.ended, true, f.changed
	}
	if i := from - f.base; i < int64(len(f.items)) {
		items = f.items[i:]
	}
	return items, f.ended, false, f.changed
}

func (f *feed) add(items []Item) {
	if len(items) == 0 {
		return
	}
	end := f.base + int64(len(f.items))
	first := items[0].Offset
	switch {
	case len(f.items) == 0:
		f.base, f.items = first, append([]Item{}, items...)
	case first > end:
		// A gap: keep only what follows it, so that the reader queries for the rest.
		f.base, f.items = first, append([]Item{}, items...)
	default:
		if skip := end - first; skip < int64(len(items)) {
			f.items = append(f.items, items[skip:]...)
		}
	}
}

// fenced reports whether an item is of an attempt that a newer one has replaced.
func (f *feed) fenced(item Item) bool {
	if len(f.fence) == 0 {
		return false // most runs: nothing to decode
	}
	event, err := DecodeEvent(item.Data)
	return err == nil && f.fence.stale(event)
}

func (f *feed) pause() {
	if f.publishing {
		f.publishing = false
		f.wake()
	}
}

func (f *feed) wake() {
	close(f.changed)
	f.changed = make(chan struct{})
}
