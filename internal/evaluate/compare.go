package evaluate

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

// Compare compares two evaluations by the items that both have. Of latency and tokens, less is
// better; they do not decide the verdict of the whole.
func Compare(baseline, candidate []Outcome) Comparison { panic("not built") }
