package evaluate

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
func ParseGate(text string) (Gate, error) { panic("not built") }

// Decision is what a gate decides.
type Decision struct {
	Passed  bool     `json:"passed"`
	Exit    int      `json:"exit"`
	Reasons []string `json:"reasons"` // a line for each limit, also for those that hold
}

// Decide holds an evaluation against the gate: a limit holds if the whole interval is on its good
// side. compared and consistency may be nil. A broken judge goes first, then what is below or
// worse, then what is undecided.
func (g Gate) Decide(s Summary, compared *Comparison, consistency *Consistency) Decision {
	panic("not built")
}
