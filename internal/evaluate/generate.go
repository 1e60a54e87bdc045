package evaluate

// Generated is a question that was made from passages.
type Generated struct {
	Item     Item     `json:"item"`
	Passages []string `json:"passages"` // ids of the chunks that it was made from
}

// GeneratedKinds returns the kinds of questions that can be made, in the order in which they take
// turns.
func GeneratedKinds() []Kind { return []Kind{KindFact, KindTable, KindComparison, KindUnanswerable} }

// GenerationRequest returns what a model is asked to make up to count questions of a kind from
// passages. A comparison needs two passages or more; the other kinds take one.
func GenerationRequest(kind Kind, passages []Passage, count int) Request { panic("not built") }

// ReadGenerated reads the reply to a GenerationRequest. Questions without an answer in the
// passages' words or numbers are left out, except unanswerable ones. It returns an error if the
// reply cannot be read.
func ReadGenerated(kind Kind, passages []Passage, reply string) ([]Generated, error) {
	panic("not built")
}

// GenerateOffline makes up to count questions without a model: from rows of tables, and from
// sentences that have a number or a date. The same passages and seed give the same questions.
func GenerateOffline(passages []Passage, count int, seed uint64) []Generated { panic("not built") }

// WithoutDuplicates leaves out each question that is nearly the same as an earlier one.
func WithoutDuplicates(list []Generated) []Generated { panic("not built") }

// NeedsPassage reports whether a question needs its passage: given how an answer without any
// passage was judged, the model does not know it anyway. An unanswerable question needs none and
// is kept. A failed judgement keeps the question.
func NeedsPassage(item Item, without Judgement) bool { panic("not built") }
