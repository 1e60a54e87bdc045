package evaluate

import (
	"fmt"
	"math"
	"slices"
)

// LeastCalibrated is how many answers people should score before a judge is relied on.
const LeastCalibrated = 50

// maxBias is the mean of judge minus person from which on a judge may not gate, in stored scores.
const maxBias = 0.25

// calibration says what is known of the judge of a report: how well it agrees with people and how
// often it contradicts itself. Each may be nil.
func (r Report) calibration() []string {
	list := []string{"agreement of the judge with people: not known"}
	if r.Agreement != nil {
		list[0] = "agreement of the judge with people: " + r.Agreement.figures()
	}
	if r.OnContext != nil {
		list = append(list, "agreement on the context: "+r.OnContext.figures())
	}
	if r.Consistency != nil {
		list = append(list, r.Consistency.Reason())
	}
	return list
}

func (a Agreement) figures() string {
	return fmt.Sprintf("kappa %.2f (%.2f to %.2f) over %d answers, raw %.2f, always the most frequent grade %.2f, bias %+.2f (%+.2f to %+.2f)",
		a.Kappa.Mean, a.Kappa.Low, a.Kappa.High, a.N, a.Raw, a.Guessing, a.Bias.Mean, a.Bias.Low, a.Bias.High)
}

// by names the judge with its rubric.
func (r Report) by() string {
	if r.Rubric == nil {
		return r.Judge
	}
	return fmt.Sprintf("%s, rubric %d (%s)", r.Judge, r.Rubric.Version, r.Rubric.Hash)
}

// reasons returns why a judge that agrees so with people cannot gate, none if it can.
func (a Agreement) reasons(defined bool) (reasons []string) {
	switch {
	case a.N == 0:
		return []string{"no answer was scored by both"}
	case !defined:
		return []string{"kappa is not defined"}
	}
	if a.Kappa.Mean < leastKappa {
		reasons = append(reasons, fmt.Sprintf("kappa is below %.1f", leastKappa))
	}
	if a.Raw <= a.Guessing {
		reasons = append(reasons, "it agrees with people no more often than one that always says the most frequent grade")
	}
	if math.Abs(a.Bias.Mean) >= maxBias && (a.Bias.Low > 0 || a.Bias.High < 0) {
		reasons = append(reasons, fmt.Sprintf("its scores are %+.2f away from those of people on average", a.Bias.Mean))
	}
	return slices.Clip(reasons)
}
