package evaluate

// Rubric is the version of the prompts by which a model judges. Scores by different rubrics
// are not compared.
type Rubric struct {
	Version int    `json:"version"`
	Hash    string `json:"hash"` // of the texts of the prompts
}

// CurrentRubric returns the rubric of this program.
func CurrentRubric() Rubric { panic("not built") }

// Request is a question to the judging model. Its reply is read by Judgement.Take.
type Request struct {
	Part   Part   `json:"part"`
	System string `json:"system"`
	User   string `json:"user"`
}

// Requests returns what a model must be asked to judge a case, in the order score, context,
// faithfulness. An answer without a sentence that could be faithful, such as one that says that
// the documents have no answer, has no request for faithfulness; an item without a reference
// that is not unanswerable has no request for the score and the context.
func Requests(c Case) []Request { panic("not built") }

// Take reads the reply of the judging model to one of the requests of a case. A reply that has
// no verdict in it, or one out of range, becomes a Failure.
func (j *Judgement) Take(c Case, part Part, reply string) { panic("not built") }

// Fail notes that a part could not be judged, for example because the model refused.
func (j *Judgement) Fail(part Part, reason string) { panic("not built") }

// ReadScores reads the answer of a program that judges in place of a model:
// {"score": 0|1|1.5|2, "context": 0|1|1.5|2, "faithfulness": 0…1, "reason": "…"}. Missing fields
// are not judged; a field out of range becomes a Failure. It returns an error for what is no
// JSON object.
func ReadScores(body []byte) (Judgement, error) { panic("not built") }
