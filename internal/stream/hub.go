package stream

import "sync"

// Hub hands the items of a run to readers in the same process, before a query
// would find them. It is an accelerator and never a truth: it is only given
// items that are durable already (a signal was acknowledged, a log was stored),
// it forgets a run when the last reader leaves, and whoever finds a gap in it
// queries the workflow. Safe for concurrent use.
type Hub struct {
	mu    sync.Mutex
	feeds map[string]*feed
}

type feed struct {
	readers int
	base    int64 // offset of items[0]; meaningless while items is empty
	items   []Item
	fed     bool // somebody in this process gives the items as they come
	ended   bool
	changed chan struct{} // closed and replaced at each change

	fence fence // of the turns whose model call was repeated
}

// NewHub makes an empty hub.
func NewHub() *Hub { return &Hub{feeds: map[string]*feed{}} }

// Follow says that somebody in this process reads the run; stop says that it
// has left. Items given while nobody follows are not kept.
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

// Append gives durable items to the readers of a run. A batch that overlaps what
// the hub has is cut; behind a gap the hub begins anew, and readers query for
// what is missing.
func (h *Hub) Append(run string, items []Item) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.feeds[run]
	if f == nil || f.ended || len(items) == 0 || f.fenced(items[0]) {
		return
	}
	f.add(items)
	f.fed = true
	f.wake()
}

// Pause says that whoever gave a run's items has ended: those that come next are
// found by query, until somebody gives items again.
func (h *Hub) Pause(run string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if f := h.feeds[run]; f != nil {
		f.pause()
	}
}

// Fence says that a newer attempt of a turn's model call has begun: what earlier
// ones still give is refused, as the log in the workflow refuses it. What the
// newer one gives is found by query.
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

// Finish gives the last items of a run whose log is stored.
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

// Fed reports whether somebody gives the run's items as they come. It changes
// with the channel that Since gives.
func (h *Hub) Fed(run string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := h.feeds[run]
	return f != nil && f.fed
}

// Since gives what the hub has from the offset on. Gap is true where it has
// later items only; changed is closed at the next change.
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
		// A gap: start anew behind it, so that the reader queries for the rest.
		f.base, f.items = first, append([]Item{}, items...)
	default:
		if skip := end - first; skip < int64(len(items)) {
			f.items = append(f.items, items[skip:]...)
		}
	}
}

// fenced reports whether an item is of an attempt that was given up.
func (f *feed) fenced(item Item) bool {
	if len(f.fence) == 0 {
		return false // most runs: nothing to decode
	}
	event, err := DecodeEvent(item.Data)
	return err == nil && f.fence.stale(event)
}

func (f *feed) pause() {
	if f.fed {
		f.fed = false
		f.wake()
	}
}

func (f *feed) wake() {
	close(f.changed)
	f.changed = make(chan struct{})
}
