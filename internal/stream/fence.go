package stream

import "math"

// fence holds the newest attempt of the model call of each turn, 1 = first. It
// refuses the entries of earlier attempts, whose process may still write after
// the next attempt has begun. Log and Hub each have a fence: the log decides which
// entries are kept, and the hub which items readers see before they query the log.
type fence map[int]int

// GivenUp is an attempt that is newer than all others: the model call is given up.
const GivenUp = math.MaxInt32

// stale reports whether an event is of an attempt older than the newest one.
// Events outside a model call are never stale.
func (f fence) stale(e Event) bool { return e.Turn != 0 && e.Attempt < f[e.Turn] }

// raise makes an attempt the newest one of a turn, unless a newer one is known.
func (f *fence) raise(turn, attempt int) {
	if *f == nil {
		*f = fence{}
	}
	(*f)[turn] = max((*f)[turn], attempt)
}
