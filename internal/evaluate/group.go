package evaluate

// Asked is a question with its vector.
type Asked struct {
	ID     string // of its run
	Text   string
	Vector []float32 // need not have the length 1; nil is in a group of its own text
}

// Group is questions that mean the same.
type Group struct {
	Question string   `json:"question"` // the one nearest to the middle of the group
	IDs      []string `json:"runs"`     // in the order in which they were asked
}

// GroupThreshold is the cosine from which on two questions mean the same, for the offline
// embeddings.
const GroupThreshold = 0.8

// GroupQuestions groups questions by meaning, the largest group first. The same questions in the
// same order give the same groups. threshold is a cosine; 0 stands for GroupThreshold.
func GroupQuestions(questions []Asked, threshold float64) []Group { panic("not built") }
