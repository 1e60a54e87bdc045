package evaluate

import "io"

// Report is what the reports of an evaluation show.
type Report struct {
	Name      string // of the test set
	Project   string
	Judge     string
	Items     []Item
	Results   []Result
	Summary   Summary
	Compared  *Comparison
	Decided   *Decision
	Threshold float64 // score below which an item is a failure in JUnit; 0 = ScorePartial
}

// Result is a judged answer with what reports show of it.
type Result struct {
	Outcome   Outcome
	Answer    string
	Judgement Judgement
}

// WriteJUnit writes a report as JUnit XML: a test case an item, which fails below the threshold,
// and errs if the question or its judgement failed; and a test case for each limit of the gate.
func WriteJUnit(w io.Writer, r Report) error { panic("not built") }
