package layout

import (
	"cmp"
	"math"
	"slices"
)

const (
	// snap is how far two lines of a table may be apart to be one, in points: the edges
	// of neighbours, the two lines of a double border, and a line that ends a little
	// before the one it should meet.
	snap = 3
	// dash is the widest gap within a dashed line, in points.
	dash = 4
	// maxRules bounds the lines of a page among which tables are looked for.
	maxRules = 3000
)

// rule is a straight line of a page whose text is upright.
type rule struct {
	at       float64 // its place on the axis that it crosses
	from, to float64 // its ends on the other axis
}

func (r rule) length() float64 { return r.to - r.from }

// rulesOf returns the lines across the page and those down the page, snapped and
// joined, of a drawing whose text has the given direction.
func rulesOf(d Drawing, turned int) (across, down []rule) {
	for _, b := range d.Rules {
		u := Upright(b, turned)
		if width(u) >= height(u) {
			across = append(across, rule{at: (u.Y1 + u.Y2) / 2, from: u.X1, to: u.X2})
		} else {
			down = append(down, rule{at: (u.X1 + u.X2) / 2, from: u.Y1, to: u.Y2})
		}
	}
	return joinRules(across), joinRules(down)
}

// joinRules moves lines that are nearly at the same place to one place, and joins
// those that touch.
func joinRules(rules []rule) []rule {
	slices.SortFunc(rules, func(a, b rule) int { return cmp.Compare(a.at, b.at) })
	var out []rule
	for start := 0; start < len(rules); {
		end, sum := start, 0.0
		for end < len(rules) && rules[end].at-rules[start].at <= snap {
			sum += rules[end].at
			end++
		}
		group := rules[start:end]
		slices.SortFunc(group, func(a, b rule) int { return cmp.Compare(a.from, b.from) })
		first := len(out)
		for _, r := range group {
			r.at = sum / float64(len(group))
			if n := len(out); n > first && r.from-out[n-1].to <= dash {
				out[n-1].to = math.Max(out[n-1].to, r.to)
				continue
			}
			out = append(out, r)
		}
		start = end
	}
	return out
}

// mesh is lines that are connected by their crossings.
type mesh struct{ across, down []rule }

// meshes returns the groups of connected lines.
func meshes(across, down []rule) []mesh {
	if len(across)+len(down) > maxRules {
		return nil
	}
	sets := newSets(len(across) + len(down))
	for i, h := range across {
		for j, v := range down {
			if v.at >= h.from-snap && v.at <= h.to+snap && h.at >= v.from-snap && h.at <= v.to+snap {
				sets.join(i, len(across)+j)
			}
		}
	}
	var out []mesh
	number := map[int]int{} // by the set
	of := func(i int) *mesh {
		n, ok := number[sets.find(i)]
		if !ok {
			n = len(out)
			number[sets.find(i)], out = n, append(out, mesh{})
		}
		return &out[n]
	}
	for i, h := range across {
		m := of(i)
		m.across = append(m.across, h)
	}
	for j, v := range down {
		m := of(len(across) + j)
		m.down = append(m.down, v)
	}
	return out
}

// sets are disjoint sets of the numbers from 0.
type sets []int

func newSets(n int) sets {
	s := make(sets, n)
	for i := range s {
		s[i] = i
	}
	return s
}

func (s sets) find(i int) int {
	for s[i] != i {
		s[i] = s[s[i]]
		i = s[i]
	}
	return i
}

func (s sets) join(a, b int) { s[s.find(b)] = s.find(a) }
