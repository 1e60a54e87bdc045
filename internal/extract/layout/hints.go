package layout

import (
	"cmp"
	"math"
	"slices"
)

// hints adds the edges of the areas of a drawing, and the ends of its rows, to its lines.
func hints(d Drawing, turned int, across, down []rule) (allAcross, allDown []rule) {
	if len(d.Fills)+len(d.Rules) > maxRules {
		return across, down
	}
	down = append(down, rowEnds(d, turned)...)
	for _, f := range d.Fills {
		u := Upright(f.Box, turned)
		across = append(across, rule{u.Y1, u.X1, u.X2}, rule{u.Y2, u.X1, u.X2})
		down = append(down, rule{u.X1, u.Y1, u.Y2}, rule{u.X2, u.Y1, u.Y2})
	}
	return joinRules(across), joinRules(down)
}

// rowEnds returns lines down the page where lines across it begin or end at the same place
// in several rows, as the lower borders of cells do.
func rowEnds(d Drawing, turned int) []rule {
	var ends []rule
	for _, b := range d.Rules {
		if u := Upright(b, turned); width(u) > height(u) {
			ends = append(ends, rule{u.X1, u.Y1, u.Y2}, rule{u.X2, u.Y1, u.Y2})
		}
	}
	slices.SortFunc(ends, func(a, b rule) int { return cmp.Compare(a.at, b.at) })
	var out []rule
	for start := 0; start < len(ends); {
		r := ends[start]
		end := start + 1
		for ; end < len(ends) && ends[end].at-ends[start].at <= 1; end++ {
			r.from, r.to = math.Min(r.from, ends[end].from), math.Max(r.to, ends[end].to)
		}
		if r.length() > snap {
			out = append(out, r)
		}
		start = end
	}
	return out
}
