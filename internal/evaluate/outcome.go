package evaluate

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"
)

// Measure is a quantity of which an evaluation has a mean.
type Measure string

// The measures.
const (
	MeasureScore        Measure = "score"
	MeasureContext      Measure = "context"
	MeasureFaithfulness Measure = "faithfulness"
	MeasureNDCG10       Measure = "ndcg10"
	MeasureRecall10     Measure = "recall10"
	MeasureMRR10        Measure = "mrr10"
	MeasureLatency      Measure = "latency" // seconds
	MeasureTokens       Measure = "tokens"
)

// Measures returns all measures in the order in which reports show them.
func Measures() []Measure {
	return []Measure{
		MeasureScore, MeasureContext, MeasureFaithfulness, MeasureNDCG10, MeasureRecall10, MeasureMRR10, MeasureLatency, MeasureTokens,
	}
}

// greatest returns the greatest value of a measure, whose least one is 0.
func (m Measure) greatest() float64 {
	switch m {
	case MeasureScore, MeasureContext:
		return ScoreRight
	case MeasureLatency, MeasureTokens:
		return math.Inf(1)
	}
	return 1
}

// isCost reports whether less of a measure is better.
func (m Measure) isCost() bool { return m == MeasureLatency || m == MeasureTokens }

// Outcome is what came of one answer to an item. Values lacks the measures that were not
// measured or whose judgement failed.
type Outcome struct {
	Item   string              `json:"item"`
	Repeat int                 `json:"repeat"` // from 0
	Values map[Measure]float64 `json:"values"`
	Failed []Part              `json:"failed,omitempty"` // judgements that failed
	Error  string              `json:"error,omitempty"`  // the question itself failed
}

// NewOutcome returns the outcome of a judged case.
func NewOutcome(c Case, repeat int, j Judgement, took time.Duration, tokens int) Outcome {
	o := Outcome{Item: c.Item.ID, Repeat: repeat, Values: map[Measure]float64{
		MeasureLatency: took.Seconds(), MeasureTokens: float64(tokens),
	}}
	for m, value := range map[Measure]*float64{MeasureScore: j.Score, MeasureContext: j.Context, MeasureFaithfulness: j.Faithfulness} {
		if value != nil {
			o.Values[m] = *value
		}
	}
	if r, ok := Measured(c); ok {
		o.Values[MeasureNDCG10], o.Values[MeasureRecall10], o.Values[MeasureMRR10] = r.NDCG10, r.Recall10, r.MRR10
	}
	for _, f := range j.Failures {
		o.Failed = append(o.Failed, f.Part)
	}
	return o
}

// Estimate is a mean with its 95 % interval. N counts items, not repeats.
type Estimate struct {
	Mean   float64 `json:"mean"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	N      int     `json:"n"`
	Within float64 `json:"within,omitempty"` // standard deviation of repeats of the same item
}

// Summary is what an evaluation found.
type Summary struct {
	Items    int                  `json:"items"`
	Scores   map[Measure]Estimate `json:"scores"`
	Judged   int                  `json:"judged"` // judgements that were asked for
	Failed   int                  `json:"failed"` // judgements that could not be read
	Errors   int                  `json:"errors"` // questions that failed
	Repeats  int                  `json:"repeats"`
	Warnings []string             `json:"warnings,omitempty"`
}

// fewItems is the number of items below which a mean says little.
const fewItems = 20

// Summarize returns the means of outcomes with intervals over the items. The result depends on
// the order of neither items nor repeats.
func Summarize(outcomes []Outcome) Summary {
	s := Summary{Scores: map[Measure]Estimate{}}
	repeats := map[string]int{}
	for _, o := range outcomes {
		repeats[o.Item]++
		s.Repeats = max(s.Repeats, repeats[o.Item])
		s.Failed += len(o.Failed)
		s.Judged += len(o.Failed)
		for _, m := range []Measure{MeasureScore, MeasureContext, MeasureFaithfulness} {
			if _, ok := o.Values[m]; ok {
				s.Judged++
			}
		}
		if o.Error != "" {
			s.Errors++
		}
	}
	s.Items = len(repeats)
	for _, m := range Measures() {
		if values := byItem(outcomes, m); len(values) > 0 {
			s.Scores[m] = estimate(values, m.greatest())
		}
	}
	s.warn()
	return s
}

func (s *Summary) warn() {
	if s.Failed > 0 {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%d of %d judgements could not be read and count in no mean", s.Failed, s.Judged))
	}
	if s.Errors > 0 {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%d questions failed and count in no mean", s.Errors))
	}
	if s.Items > 0 && s.Items < fewItems {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%d items are few: the intervals are wide, and too narrow rather than too wide", s.Items))
	}
}

// valuesOf returns the sorted values of a measure by item. What is no number counts as not measured.
func valuesOf(outcomes []Outcome, m Measure) map[string][]float64 {
	values := map[string][]float64{}
	for _, o := range outcomes {
		if value, ok := o.Values[m]; ok && !math.IsNaN(value) && !math.IsInf(value, 0) {
			values[o.Item] = append(values[o.Item], value)
		}
	}
	for _, list := range values {
		slices.Sort(list) // sums of floats depend on the order
	}
	return values
}

// byItem returns the values of a measure, those of the repeats of an item together, in the order of
// the items' ids.
func byItem(outcomes []Outcome, m Measure) [][]float64 {
	values := valuesOf(outcomes, m)
	var list [][]float64
	for _, item := range slices.Sorted(maps.Keys(values)) {
		list = append(list, values[item])
	}
	return list
}

// estimate returns the mean of the items' means, with its interval and the deviation of the
// repeats of an item.
func estimate(values [][]float64, greatest float64) Estimate {
	means, squares, degrees := make([]float64, len(values)), 0.0, 0
	for i, repeats := range values {
		means[i] = mean(repeats)
		for _, x := range repeats {
			squares += (x - means[i]) * (x - means[i])
		}
		degrees += len(repeats) - 1
	}
	e := interval(means)
	e.widen(greatest)
	if degrees > 0 {
		e.Within = math.Sqrt(squares / float64(degrees))
	}
	return e
}
