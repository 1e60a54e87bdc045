package evaluate

import "fmt"

// Quantities returns how the quantities of a text are read.
func Quantities(text string) []string {
	var list []string
	for _, q := range quantities(text) {
		unit := q.unit
		if !q.known {
			unit = "?" + unit
		}
		list = append(list, fmt.Sprintf("%s: %v%v %s", q.text, q.values, q.dates, unit))
	}
	return list
}

// SameQuantity reports whether the first quantities of two texts may be equal.
func SameQuantity(a, b string) bool { return quantities(a)[0].same(quantities(b)[0]) }

// Opposes reports whether two sentences are opposites.
func Opposes(a, b string) bool {
	l := newLexicon(a, b)
	return l.opposes(l.statement(a), l.statement(b))
}

// Interval is the interval of a mean without the part that Summarize adds.
func Interval(values []float64) Estimate { return interval(values) }

// HolmOf returns Holm's correction of probabilities.
func HolmOf(ps ...float64) []float64 {
	list := make([]*Difference, len(ps))
	for i, p := range ps {
		list[i] = &Difference{P: p}
	}
	holm(list)
	var out []float64
	for _, d := range list {
		out = append(out, d.Holm)
	}
	return out
}
