package evaluate

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Exit codes of a gate, as the command ends with them.
const (
	ExitPassed      = 0
	ExitBelow       = 1 // a measure is below its limit for certain, or worse than in the baseline
	ExitUndecided   = 4 // the interval includes the limit: more items are needed
	ExitBrokenJudge = 5 // the judge failed too often, or contradicts itself too often
)

// Gate has the limits below which an evaluation fails.
type Gate []Limit

// Limit is the least mean of a measure. The limit of latency and tokens is the greatest.
type Limit struct {
	Measure Measure `json:"measure"`
	Value   float64 `json:"value"`
}

// ParseGate parses "score=1.6,context=1.5". An unknown measure, a measure that is named twice and a
// value out of the measure's range are errors.
func ParseGate(text string) (Gate, error) {
	var g Gate
	for part := range strings.SplitSeq(text, ",") {
		name, number, _ := strings.Cut(part, "=")
		m := Measure(strings.ToLower(strings.TrimSpace(name)))
		if !slices.Contains(Measures(), m) {
			return nil, fmt.Errorf("there is no measure %q; the measures are %s", strings.TrimSpace(name), measureNames())
		}
		if slices.ContainsFunc(g, func(l Limit) bool { return l.Measure == m }) {
			return nil, fmt.Errorf("%s is named twice", m)
		}
		value, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil || math.IsNaN(value) || math.IsInf(value, 0) || value < 0 || value > m.greatest() {
			return nil, fmt.Errorf("the limit of %s is %q: write a number, such as %s=%g", m, strings.TrimSpace(number), m, 0.75*min(m.greatest(), 2))
		}
		g = append(g, Limit{m, value})
	}
	return g, nil
}

func measureNames() string {
	var names []string
	for _, m := range Measures() {
		names = append(names, string(m))
	}
	return strings.Join(names, ", ")
}

// Decision is what a gate decides.
type Decision struct {
	Passed  bool     `json:"passed"`
	Exit    int      `json:"exit"`
	Reasons []string `json:"reasons"` // a line for each limit, also for those that hold
}

const (
	maxFailed = 0.05 // share of judgements that fail, above which a judge is broken
	leastGate = 5    // items without which an interval says nothing
)

// Decide holds an evaluation against the gate: a limit holds if the whole interval is on its good
// side. compared and consistency may be nil. A broken judge goes first, then what is below or
// worse, then what is undecided.
func (g Gate) Decide(s Summary, compared *Comparison, consistency *Consistency) Decision {
	d := Decision{Reasons: []string{}}
	broken := d.checkJudge(s, consistency)
	below, undecided := false, false
	for _, limit := range g {
		exit, reason := limit.hold(s)
		d.Reasons = append(d.Reasons, reason)
		below, undecided = below || exit == ExitBelow, undecided || exit == ExitUndecided
	}
	if compared != nil {
		for _, x := range compared.Differences {
			if x.Verdict == Worse && !x.Measure.isCost() {
				d.Reasons = append(d.Reasons, fmt.Sprintf("%s is worse than in the baseline: %+.3f, interval %+.3f to %+.3f", x.Measure, x.Mean, x.Low, x.High))
				below = true
			}
		}
	}
	switch {
	case broken:
		d.Exit = ExitBrokenJudge
	case below:
		d.Exit = ExitBelow
	case undecided:
		d.Exit = ExitUndecided
	}
	d.Passed = d.Exit == ExitPassed
	return d
}

// checkJudge reports whether the judge is broken.
func (d *Decision) checkJudge(s Summary, consistency *Consistency) (broken bool) {
	if s.Judged > 0 && float64(s.Failed) > maxFailed*float64(s.Judged) {
		d.Reasons = append(d.Reasons, fmt.Sprintf("the judge failed %d of %d times, more than %.0f %%", s.Failed, s.Judged, 100*maxFailed))
		broken = true
	}
	if consistency != nil && !consistency.MayGate {
		d.Reasons = append(d.Reasons, consistency.Reason())
		broken = true
	}
	return broken
}

// hold holds a summary against a limit.
func (l Limit) hold(s Summary) (exit int, reason string) {
	e, ok := s.Scores[l.Measure]
	if !ok {
		return ExitUndecided, fmt.Sprintf("%s was not measured", l.Measure)
	}
	// With the sign of costs turned around, more is better for all measures.
	value, low, high := l.Value, e.Low, e.High
	if l.Measure.isCost() {
		value, low, high = -l.Value, -e.High, -e.Low
	}
	word := "at least"
	if l.Measure.isCost() {
		word = "at most"
	}
	reason = fmt.Sprintf("%s is %.3f, interval %.3f to %.3f over %d items; %s %g is asked for", l.Measure, e.Mean, e.Low, e.High, e.N, word, l.Value)
	switch {
	case e.N < leastGate:
		return ExitUndecided, reason + fmt.Sprintf(": fewer than %d items decide nothing", leastGate)
	case s.Errors > 0 && high >= value:
		return ExitUndecided, reason + fmt.Sprintf(": %d questions failed, so it is not known", s.Errors)
	case low >= value:
		return ExitPassed, reason + ": passed"
	case high < value:
		return ExitBelow, reason + ": failed"
	}
	return ExitUndecided, reason + ": undecided, the interval includes it"
}
