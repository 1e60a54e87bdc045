package extract

import (
	"context"
	"sync"
)

// Budget bounds the private memory that the children of all pools that share it have
// together. A new document waits while they have more than half of it. When they have all of
// it, the document whose child has the most is read again later, in a child of its own,
// except the one that began first, which always goes on: each document is read at last. The
// use is looked at every 50 ms, on Linux only.
type Budget struct {
	limit int64 // bytes

	mu      sync.Mutex
	turns   int64            // documents that have come
	waiting map[int64]bool   // turns of documents that wait
	used    map[*child]int64 // bytes, of all children
	busy    map[*child]int64 // turns of the documents that are read
	changed chan struct{}    // closed when one of these has become less
}

// NewBudget returns a budget of a number of bytes.
func NewBudget(limit int64) *Budget {
	return &Budget{limit: limit, waiting: map[int64]bool{}, used: map[*child]int64{}, busy: map[*child]int64{}, changed: make(chan struct{})}
}

// turn returns the place of a new document in the order in which they came.
func (b *Budget) turn() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.turns++
	return b.turns
}

// begin blocks until a document may be read by a child. Only an error of ctx ends it earlier.
func (b *Budget) begin(ctx context.Context, turn int64, c *child) error {
	for {
		begun, changed := b.tryBegin(turn, c)
		if begun {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			b.mu.Lock()
			delete(b.waiting, turn)
			b.notify() // the next one may be the first of those that wait
			b.mu.Unlock()
			return context.Cause(ctx)
		}
	}
}

func (b *Budget) tryBegin(turn int64, c *child) (begun bool, changed <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting[turn] = true
	for other := range b.waiting {
		if other < turn {
			return false, b.changed
		}
	}
	if len(b.busy) > 0 && b.sum() > b.limit/2 {
		return false, b.changed
	}
	delete(b.waiting, turn)
	b.busy[c] = turn
	if len(b.waiting) > 0 {
		b.notify() // another one is the first now
	}
	return true, nil
}

// holds notes how many bytes a child has that reads a document. It reports false if the
// document must be read again later.
func (b *Budget) holds(c *child, bytes int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.note(c, bytes)
	if b.sum() <= b.limit {
		return true
	}
	first, most := c, c
	for other, turn := range b.busy {
		if turn < b.busy[first] {
			first = other
		}
	}
	for other := range b.busy {
		if most == first || other != first && b.used[other] > b.used[most] {
			most = other
		}
	}
	return c == first || c != most
}

// rest notes that a child does not read any more.
func (b *Budget) rest(c *child) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.busy, c)
	b.notify()
}

// keeps notes how many bytes an idle child has, and reports whether it may wait for its next
// document: idle children have at most a quarter of the budget.
func (b *Budget) keeps(c *child, bytes int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.note(c, bytes)
	var idle int64
	for other, used := range b.used {
		if _, isBusy := b.busy[other]; !isBusy {
			idle += used
		}
	}
	return idle <= b.limit/4
}

// came counts a child from its start on.
func (b *Budget) came(c *child) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used[c] = 0
}

// gone forgets a child that has ended.
func (b *Budget) gone(c *child) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.busy, c)
	delete(b.used, c)
	b.notify()
}

// note notes how many bytes a child has, unless the child has ended since they were counted.
func (b *Budget) note(c *child, bytes int64) {
	before, exists := b.used[c]
	if !exists {
		return
	}
	b.used[c] = bytes
	if bytes < before {
		b.notify()
	}
}

// notify wakes the documents that wait.
func (b *Budget) notify() {
	close(b.changed)
	b.changed = make(chan struct{})
}

func (b *Budget) sum() (bytes int64) {
	for _, used := range b.used {
		bytes += used
	}
	return bytes
}
