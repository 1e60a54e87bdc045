package stream

// fence holds the newest attempt of the model call of each turn, 1 = first. It
// keeps out the entries of attempts that were given up: their process may still
// write after its successor has begun. Log and Hub each have one, because the log
// decides what is kept and the hub what readers are shown before they ask the log.
type fence map[int]int

// stale reports whether an event is of an attempt older than the newest one.
// Events outside a model call never are.
func (f fence) stale(e Event) bool { return e.Turn != 0 && e.Attempt < f[e.Turn] }

// raise makes an attempt the newest one of a turn, unless a newer one is.
func (f *fence) raise(turn, attempt int) {
	if *f == nil {
		*f = fence{}
	}
	(*f)[turn] = max((*f)[turn], attempt)
}
