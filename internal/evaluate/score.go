package evaluate

// The scores of an answer and of its context. A judge says 0, 1 or 2, and a 1 is stored as 1.5.
const (
	ScoreWrong   = 0.0
	ScorePartial = 1.5
	ScoreRight   = 2.0
)

// Part is one of the judgements of an answer.
type Part string

// The parts of a judgement.
const (
	PartScore        Part = "score"        // the answer beside the reference
	PartContext      Part = "context"      // whether the passages have what an answer needs
	PartFaithfulness Part = "faithfulness" // whether the passages support each sentence
)

// Judgement is what a judge says of an answer. A part that was not judged, or could not be, is
// nil; what failed is in Failures and nowhere else, so no failure counts as a low score.
type Judgement struct {
	Score         *float64   `json:"score"`        // ScoreWrong, ScorePartial or ScoreRight
	Context       *float64   `json:"context"`      // the same
	Faithfulness  *float64   `json:"faithfulness"` // share of the sentences that are supported, 0 to 1
	Reason        string     `json:"reason,omitempty"`
	ContextReason string     `json:"context_reason,omitempty"`
	Sentences     []Sentence `json:"sentences,omitempty"`
	Failures      []Failure  `json:"failures,omitempty"`
}

// Failure is a part that the judge did not judge in a form that could be read.
type Failure struct {
	Part   Part   `json:"part"`
	Reason string `json:"reason"`
}

// Support is what the cited passages say of a sentence.
type Support string

// The kinds of support.
const (
	Supported    Support = "supported"
	Contradicted Support = "contradicted" // by another number or date, or by a negation
	NotFound     Support = "not_found"
)

// Sentence is a sentence of an answer, without the tags of its citations.
type Sentence struct {
	Text    string   `json:"text"`
	Chunks  []string `json:"chunks,omitempty"` // the chunks that it cites
	Support Support  `json:"support"`
	Reason  string   `json:"reason,omitempty"`
}

// StoredScore returns the score that is stored for a judge's grade of 0, 1 or 2, and false for
// any other grade.
func StoredScore(grade int) (score float64, ok bool) {
	switch grade {
	case 0:
		return ScoreWrong, true
	case 1:
		return ScorePartial, true
	case 2:
		return ScoreRight, true
	}
	return 0, false
}

// Grade returns the judge's grade for a stored score: 0 below 1, 1 below 1.75, else 2.
func Grade(score float64) int {
	switch {
	case score < 1:
		return 0
	case score < 1.75:
		return 1
	}
	return 2
}
