package evaluate

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
)

// Verdict is what a comparison or a gate says.
type Verdict string

// The verdicts.
const (
	Better    Verdict = "better"
	Worse     Verdict = "worse"
	Undecided Verdict = "undecided"
)

// Difference is how a measure differs between two evaluations, candidate minus baseline, over
// the items that both have.
type Difference struct {
	Measure  Measure `json:"measure"`
	Mean     float64 `json:"mean"`
	Low      float64 `json:"low"`  // of the 95 % interval of this measure alone
	High     float64 `json:"high"` // the same
	N        int     `json:"n"`
	P        float64 `json:"p"`        // of a paired test by random signs
	Holm     float64 `json:"p_holm"`   // P after Holm's correction for all compared measures
	Verdict  Verdict `json:"verdict"`  // by Holm at 5 %
	Improved int     `json:"improved"` // items that are better
	Worsened int     `json:"worsened"` // items that are worse
}

// Change is an item whose score, context or faithfulness differs.
type Change struct {
	Item    string  `json:"item"`
	Measure Measure `json:"measure"`
	Before  float64 `json:"before"` // mean of the repeats
	After   float64 `json:"after"`
}

// Comparison is a paired comparison of two evaluations.
type Comparison struct {
	Differences   []Difference `json:"differences"`
	Changed       []Change     `json:"changed"` // the largest first
	Paired        int          `json:"paired"`  // items that both have
	OnlyBaseline  int          `json:"only_baseline"`
	OnlyCandidate int          `json:"only_candidate"`
	Verdict       Verdict      `json:"verdict"` // worse if any measure is, else better if any is
	Note          string       `json:"note"`    // says how many measures were compared and that Holm's correction holds
}

const (
	level     = 0.05 // of a comparison as a whole
	signTests = 1999 // random signs of a test, and the least of one among several candidates

	enoughExtreme = 20 // extreme draws after which more of them change a probability little
)

// Compare compares two evaluations by the items that both have. Of latency and tokens, less is
// better; they do not decide the verdict of the whole.
func Compare(baseline, candidate []Outcome) Comparison {
	return CompareAll(baseline, [][]Outcome{candidate})[0]
}

// CompareAll compares candidates with one baseline, each as Compare does. Holm's correction holds
// for all measures of all candidates together.
func CompareAll(baseline []Outcome, candidates [][]Outcome) []Comparison {
	all, before := make([]Comparison, len(candidates)), map[Measure]map[string]float64{}
	for _, m := range Measures() {
		before[m] = itemMeans(baseline, m)
	}
	var together []*Difference
	for i, candidate := range candidates {
		c := &all[i]
		*c = Comparison{Differences: []Difference{}, Changed: []Change{}, Verdict: Undecided}
		c.count(baseline, candidate)
		for _, m := range Measures() {
			if d, ok := c.difference(m, before[m], itemMeans(candidate, m), signTests*len(candidates)); ok {
				c.Differences = append(c.Differences, d)
			}
		}
		for at := range c.Differences {
			together = append(together, &c.Differences[at])
		}
	}
	holm(together)
	for i := range all {
		all[i].conclude(len(candidates), len(together))
	}
	return all
}

// conclude sets the verdicts after the correction for compared measures of candidates.
func (c *Comparison) conclude(candidates, compared int) {
	var better, worse bool
	for i := range c.Differences {
		d := &c.Differences[i]
		d.Verdict = d.verdict()
		if !d.Measure.isCost() {
			better, worse = better || d.Verdict == Better, worse || d.Verdict == Worse
		}
	}
	switch {
	case worse:
		c.Verdict = Worse
	case better:
		c.Verdict = Better
	}
	slices.SortStableFunc(c.Changed, func(a, b Change) int {
		return cmp.Or(cmp.Compare(math.Abs(b.After-b.Before), math.Abs(a.After-a.Before)), strings.Compare(a.Item, b.Item))
	})
	c.Note = noteOf(candidates, compared)
}

// noteOf says for how many comparisons the verdicts are corrected.
func noteOf(candidates, compared int) string {
	if candidates > 1 {
		return fmt.Sprintf("%d differences of %d configurations were compared, so the verdicts use Holm's correction: without a true difference, all of them are “undecided” in 95 %% of experiments. Each interval is the 95 %% interval of its difference alone.", compared, candidates)
	}
	if compared < 2 {
		return "Without a true difference, the verdict is “undecided” in 95 % of comparisons."
	}
	return fmt.Sprintf("%d measures were compared, so the verdicts use Holm's correction: without a true difference, all of them are “undecided” in 95 %% of comparisons. Each interval is the 95 %% interval of its measure alone.", compared)
}

func (c *Comparison) count(baseline, candidate []Outcome) {
	before, after := map[string]bool{}, map[string]bool{}
	for _, o := range baseline {
		before[o.Item] = true
	}
	for _, o := range candidate {
		after[o.Item] = true
	}
	for item := range before {
		if after[item] {
			c.Paired++
		}
	}
	c.OnlyBaseline, c.OnlyCandidate = len(before)-c.Paired, len(after)-c.Paired
}

// itemMeans returns the mean of the repeats of each item that has the measure.
func itemMeans(outcomes []Outcome, m Measure) map[string]float64 {
	means := map[string]float64{}
	for item, repeats := range valuesOf(outcomes, m) {
		means[item] = mean(repeats)
	}
	return means
}

// leastChange is a difference that is more than the error of floats.
const leastChange = 1e-9

// difference compares a measure by a test with at most so many random signs, and notes the items
// that changed.
func (c *Comparison) difference(m Measure, before, after map[string]float64, tests int) (Difference, bool) {
	d := Difference{Measure: m}
	var values []float64
	for _, item := range slices.Sorted(maps.Keys(before)) {
		now, ok := after[item]
		if !ok {
			continue
		}
		by := now - before[item]
		if math.Abs(by) < leastChange {
			by = 0
		}
		values = append(values, by)
		if by == 0 {
			continue
		}
		if by > 0 != m.isCost() {
			d.Improved++
		} else {
			d.Worsened++
		}
		if m == MeasureScore || m == MeasureContext || m == MeasureFaithfulness {
			c.Changed = append(c.Changed, Change{item, m, before[item], now})
		}
	}
	e := interval(values)
	d.Mean, d.Low, d.High, d.N, d.P = e.Mean, e.Low, e.High, e.N, signTest(values, tests)
	return d, len(values) > 0
}

// signTest returns the probability of a mean at least as far from 0 as that of some differences if
// each might as well have the other sign. It draws at most so many random signs, and stops after
// the first signTests if the probability is not a small one.
func signTest(values []float64, tests int) float64 {
	var differing []float64
	for _, x := range values {
		if x != 0 {
			differing = append(differing, math.Abs(x))
		}
	}
	slices.Sort(differing)
	sum := 0.0
	for _, x := range slices.Sorted(slices.Values(values)) {
		sum += x
	}
	source := rand.New(rand.NewPCG(seed, uint64(len(differing))))
	extreme, drawn := 0, 0
	for drawn < tests && (drawn < signTests || extreme < enoughExtreme) {
		drawn++
		bits, signed := uint64(0), 0.0
		for i, x := range differing {
			if i%64 == 0 {
				bits = source.Uint64()
			}
			if bits&1 == 1 {
				x = -x
			}
			bits >>= 1
			signed += x
		}
		if math.Abs(signed) >= math.Abs(sum)-leastChange {
			extreme++
		}
	}
	return float64(extreme+1) / float64(drawn+1)
}

// holm sets the corrected probabilities of differences: the k-th least of n times n-k+1, and never
// less than the one before.
func holm(list []*Difference) {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(list[a].P, list[b].P) })
	before := 0.0
	for k, i := range order {
		before = max(before, min(1, list[i].P*float64(len(list)-k)))
		list[i].Holm = before
	}
}

func (d Difference) verdict() Verdict {
	switch {
	case d.Holm > level || d.Mean == 0:
		return Undecided
	case d.Mean > 0 != d.Measure.isCost():
		return Better
	}
	return Worse
}
