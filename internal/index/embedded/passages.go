package embedded

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cairn-rag/cairn/internal/words"
)

const (
	// maxPostingBytes is the memory for the lists of all workspaces. If they need
	// more, all are dropped and read again when a search needs them.
	maxPostingBytes = 64 << 20
	// maxTail is the number of new passages whose words are read one by one to
	// complete a list. If there are more, the list is read again.
	maxTail = 500
)

// passageCache holds the passages of the workspaces that were searched for words.
// Every search first reads what was written and removed since the last one, by
// this process or another.
type passageCache struct {
	db    *statements
	bytes atomic.Int64 // of postings

	mu         sync.Mutex
	workspaces map[int64]*passages
}

// passages are the passages of a workspace with their lengths, and the lists of
// the words that were searched for. A passage has a slot: its place in the order
// of ids. An id is used once and the words of a passage never change, so the
// slots and the lists only grow at their ends. A removed passage keeps its slot.
type passages struct {
	workspace int64
	loading   sync.Mutex // held while something is read from the file

	mu       sync.RWMutex
	state    state
	entries  []int64 // ascending ids
	lengths  []int32 // in words, or removed
	live     int     // passages that are not removed
	tokens   int64   // the words of all of them
	postings map[words.Term]*postings
}

const removed = -1

// ranking returns a ranking for the terms in which all passages take part that
// were written before the call.
func (c *passageCache) ranking(ctx context.Context, workspace int64, terms []words.Term) (*wordRanking, error) {
	now, err := c.db.state(ctx, workspace)
	if err != nil {
		return nil, err
	}
	p := c.of(workspace)
	if lists := p.ready(now, terms); lists != nil {
		return &wordRanking{p, lists}, nil
	}
	p.loading.Lock()
	defer p.loading.Unlock()
	follows, err := p.follow(ctx, c.db, now)
	if err != nil {
		return nil, err
	}
	if !follows {
		fresh := c.replace(p)
		fresh.loading.Lock()
		defer fresh.loading.Unlock()
		p = fresh
		if _, err := p.follow(ctx, c.db, now); err != nil {
			return nil, err
		}
	}
	lists, grown, err := p.lists(ctx, c.db, terms)
	if err != nil {
		return nil, err
	}
	if c.bytes.Add(int64(grown)) > maxPostingBytes {
		c.drop()
	}
	return &wordRanking{p, lists}, nil
}

func (c *passageCache) of(workspace int64) *passages {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.workspaces[workspace]
	if p == nil {
		p = &passages{workspace: workspace, postings: map[words.Term]*postings{}}
		c.workspaces[workspace] = p
	}
	return p
}

// replace returns new passages in place of old, which running searches still use.
func (c *passageCache) replace(old *passages) *passages {
	c.mu.Lock()
	if c.workspaces[old.workspace] == old {
		delete(c.workspaces, old.workspace)
		old.mu.RLock()
		for _, list := range old.postings {
			c.bytes.Add(-int64(len(list.encoded)))
		}
		old.mu.RUnlock()
	}
	c.mu.Unlock()
	return c.of(old.workspace)
}

// drop drops the lists of all workspaces.
func (c *passageCache) drop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, p := range c.workspaces {
		p.mu.Lock()
		clear(p.postings)
		p.mu.Unlock()
	}
	c.bytes.Store(0)
}

// ready returns the lists of terms, nil if something must be read first.
func (p *passages) ready(now state, terms []words.Term) []*postings {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.state.written < now.written || p.state.removals < now.removals {
		return nil
	}
	lists := make([]*postings, len(terms))
	for i, t := range terms {
		l := p.postings[t]
		if l == nil || l.covered < len(p.entries) || l.removals != p.state.removals {
			return nil
		}
		lists[i] = l
	}
	return lists
}

// follow reads what happened until now. It returns false if that is more than
// reading everything again.
func (p *passages) follow(ctx context.Context, db *statements, now state) (bool, error) {
	if p.state.written >= now.written && p.state.removals >= now.removals {
		return true, nil
	}
	if len(p.entries) == 0 {
		p.setRemovals(now.removals) // those before are not in the file
	}
	for p.state.written < now.written {
		if err := p.readLengths(ctx, db, now.written); err != nil {
			return false, err
		}
	}
	if p.state.removals >= now.removals {
		return true, nil
	}
	gone, complete, err := db.removals(ctx, p.workspace, p.state.removals, now.removals)
	if err != nil || !complete {
		return false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, entry := range gone {
		if slot, ok := slices.BinarySearch(p.entries, entry); ok && p.lengths[slot] != removed {
			p.live, p.tokens = p.live-1, p.tokens-int64(p.lengths[slot])
			p.lengths[slot] = removed
		}
	}
	p.state.removals = now.removals
	return len(p.entries) < maxTail || p.live > len(p.entries)/2, nil
}

func (p *passages) setRemovals(n int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state.removals = n
}

// slotsOf returns the slots of entries in ascending order. The caller holds mu.
func (p *passages) slotsOf(entries []int64) slotSet {
	set := make(slotSet, (len(p.entries)+63)/64)
	from := 0
	for _, entry := range entries {
		at, ok := slices.BinarySearch(p.entries[from:], entry)
		from += at
		if ok {
			set.add(from)
		}
	}
	return set
}
