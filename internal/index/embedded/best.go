package embedded

import (
	"cmp"
	"container/heap"
	"slices"
)

// bestOf collects the k entries with the highest scores.
type bestOf struct {
	k       int
	entries worstFirst
}

// worstFirst is a heap whose root is the entry with the lowest score. Of equal
// scores the newer entry is the lower, so that each search finds the same.
type worstFirst []scored

func (w worstFirst) Len() int           { return len(w) }
func (w worstFirst) Less(i, j int) bool { return compareScored(w[i], w[j]) > 0 }
func (w worstFirst) Swap(i, j int)      { w[i], w[j] = w[j], w[i] }
func (w *worstFirst) Push(s any)        { *w = append(*w, s.(scored)) }
func (w *worstFirst) Pop() any          { panic("entries are replaced, not removed") }

// compareScored orders the better entry first.
func compareScored(a, b scored) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.entry, b.entry))
}

func (b *bestOf) add(s scored) {
	switch {
	case len(b.entries) < b.k:
		heap.Push(&b.entries, s)
	case b.k > 0 && compareScored(s, b.entries[0]) < 0:
		b.entries[0] = s
		heap.Fix(&b.entries, 0)
	}
}

// sorted returns the entries, best first.
func (b *bestOf) sorted() []scored {
	slices.SortFunc(b.entries, compareScored)
	return b.entries
}
