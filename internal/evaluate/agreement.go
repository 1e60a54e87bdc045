package evaluate

// Agreement is how well a judge agrees with people on the same answers.
type Agreement struct {
	N        int      `json:"n"`
	Kappa    Estimate `json:"kappa"`    // Cohen's, with quadratic weights
	Raw      float64  `json:"raw"`      // share of equal grades
	Guessing float64  `json:"guessing"` // the same for a judge that always says the people's most frequent grade
	Bias     Estimate `json:"bias"`     // mean of judge minus person, in stored scores
	Warnings []string `json:"warnings,omitempty"`
}

// Pair is a judge's and a person's stored score of the same answer.
type Pair struct{ Judge, Person float64 }

// Agree returns the agreement of a judge with people. Kappa is 0 if it is not defined, with a
// warning.
func Agree(pairs []Pair) Agreement { panic("not built") }

// Consistency is how often a judge contradicts itself on the same input.
type Consistency struct {
	Inputs  int     `json:"inputs"`
	Asked   int     `json:"asked"`   // times each
	Flipped int     `json:"flipped"` // inputs that got different grades
	Share   float64 `json:"share"`   // of the inputs
	MayGate bool    `json:"may_gate"`
}

// MaxFlipped is the share of inputs above which a judge cannot gate.
const MaxFlipped = 0.1

// Consistent returns the consistency of a judge: grades has, for each input, the grades of its
// repeated judgements. Inputs with fewer than two grades do not count. A judge without any input
// that counts may not gate.
func Consistent(grades [][]int) Consistency { panic("not built") }
