package index

import (
	"fmt"
	"math"
)

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
