package evaluate

import "time"

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
	panic("not built")
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

// Summarize returns the means of outcomes with intervals over the items. The result depends on
// the order of neither items nor repeats.
func Summarize(outcomes []Outcome) Summary { panic("not built") }
