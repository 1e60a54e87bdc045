package evaluate

// Contradiction is two passages that say different numbers or dates of the same thing.
type Contradiction struct {
	Subject string    `json:"subject"` // the words that both share
	First   Statement `json:"first"`
	Second  Statement `json:"second"`
}

// Statement is a sentence or row of a passage, with the number or date that differs.
type Statement struct {
	ChunkID    string `json:"chunk_id"`
	DocumentID string `json:"document_id"`
	Text       string `json:"text"`
	Value      string `json:"value"`
}

// Contradictions returns the contradictions between passages, at most limit (0 = all). It is
// precise rather than complete: two statements contradict each other only if they have nearly the
// same words around one number with the same unit, or one date.
func Contradictions(passages []Passage, limit int) []Contradiction { panic("not built") }
