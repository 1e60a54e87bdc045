package index

import (
	"fmt"
	"math"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// OtherLength returns the CodeConflict of a vector that has another length than the
// vectors of its generation: the model has changed behind its name.
func OtherLength(generation string, has, got int) error {
	return knowledge.Errorf(knowledge.CodeConflict,
		"the vectors of %s have %d numbers, and the model now returns %d: set ai.embeddings to this length, and reindex the project", generation, has, got)
}

// Normalised returns the vector scaled to length 1, nil for a vector of length 0. A
// component that is not a number is an error.
func Normalised(vector []float32) ([]float32, error) {
	var sum float64
	for _, f := range vector {
		sum += float64(f) * float64(f)
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		return nil, fmt.Errorf("a vector of %d has a component that is not a number", len(vector))
	}
	if sum == 0 {
		return nil, nil
	}
	scale := 1 / math.Sqrt(sum)
	scaled := make([]float32, len(vector))
	for i, f := range vector {
		scaled[i] = float32(float64(f) * scale)
	}
	return scaled, nil
}
