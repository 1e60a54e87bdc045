package evaluate

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Sampling is the order in which a person reviews answers.
type Sampling string

// The samplings.
const (
	SamplingRandom       Sampling = "random"
	SamplingLowScore     Sampling = "low_score"    // the lowest scores of the judge first
	SamplingDisagreement Sampling = "disagreement" // where scores of one question are farthest apart
)

// Scored is a judged answer with the scores that people gave it.
type Scored struct {
	Number int // of the item in its evaluation
	Item   string
	Score  *float64 // of the judge
	People []float64
}

// ForReview returns the numbers of answers in the order of a sampling. Equal ones are in a random
// order, which is always the same. SamplingDisagreement leaves out answers without a disagreement: one
// between the judge and people, or between the judge's scores of the same question.
func ForReview(list []Scored, by Sampling) []int {
	shuffled := slices.Clone(list)
	source := rand.New(rand.NewPCG(seed, uint64(len(list))))
	source.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	switch by {
	case SamplingRandom:
	case SamplingLowScore:
		slices.SortStableFunc(shuffled, func(a, b Scored) int { return cmp.Compare(orInfinite(a.Score), orInfinite(b.Score)) })
	case SamplingDisagreement:
		apart := apartOf(list)
		shuffled = slices.DeleteFunc(shuffled, func(s Scored) bool { return apart[s.Number] == 0 })
		slices.SortStableFunc(shuffled, func(a, b Scored) int { return cmp.Compare(apart[b.Number], apart[a.Number]) })
	}
	numbers := make([]int, 0, len(shuffled))
	for _, s := range shuffled {
		numbers = append(numbers, s.Number)
	}
	return numbers
}

// orInfinite returns a score; an answer that was not judged comes last.
func orInfinite(score *float64) float64 {
	if score == nil {
		return math.Inf(1)
	}
	return *score
}

// apartOf returns by its number how far the scores of each answer are apart.
func apartOf(list []Scored) map[int]float64 {
	type span struct{ low, high float64 }
	questions := map[string]span{}
	for _, s := range list {
		if s.Score == nil {
			continue
		}
		seen, there := questions[s.Item]
		if !there {
			seen = span{*s.Score, *s.Score}
		}
		questions[s.Item] = span{min(seen.low, *s.Score), max(seen.high, *s.Score)}
	}
	apart := map[int]float64{}
	for _, s := range list {
		if s.Score == nil {
			continue
		}
		apart[s.Number] = questions[s.Item].high - questions[s.Item].low
		if len(s.People) > 0 {
			apart[s.Number] = max(apart[s.Number], math.Abs(mean(s.People)-*s.Score))
		}
	}
	return apart
}
