package evaluate

// Retrieval is how well the passages of a question match what its item expects. The values are
// between 0 and 1.
type Retrieval struct {
	NDCG10   float64 `json:"ndcg10"`
	Recall10 float64 `json:"recall10"`
	MRR10    float64 `json:"mrr10"`
}

// Measured compares the passages of a case, best first, with the expected documents and pages of
// its item. It returns false if the item expects none. Pages count instead of documents if the item
// expects pages. Several passages of a document are one hit, at the rank of the first.
func Measured(c Case) (Retrieval, bool) { panic("not built") }

// Ranking returns the measures of a ranked list, best first, each once, of which relevant ones are
// all that should be found. It returns zeros if nothing is relevant.
func Ranking[T comparable](ranked []T, relevant map[T]bool) Retrieval { panic("not built") }
