package evaluate_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/evaluate"
)

// judged returns pairs of a judge that says what say returns for the person's grade.
func judged(n int, say func(random *rand.Rand, person int) int) []evaluate.Pair {
	random := rand.New(rand.NewPCG(5, 5))
	var pairs []evaluate.Pair
	for range n {
		person := random.IntN(3)
		p, _ := evaluate.StoredScore(person)
		j, _ := evaluate.StoredScore(say(random, person))
		pairs = append(pairs, evaluate.Pair{Judge: j, Person: p})
	}
	return pairs
}

// TestPlantedJudges: a judge that agrees passes, and ones that are lenient, that guess and that always
// say the same are found.
func TestPlantedJudges(t *testing.T) {
	t.Parallel()
	warned := func(a evaluate.Agreement, text string) bool {
		return strings.Contains(strings.Join(a.Warnings, "\n"), text)
	}
	good := evaluate.Agree(judged(100, func(r *rand.Rand, person int) int {
		if r.Float64() < .1 {
			return r.IntN(3)
		}
		return person
	}))
	if len(good.Warnings) > 0 || !good.MayGate || good.Kappa.Mean < .8 || good.Kappa.Low < .6 || good.Kappa.High > 1 || good.Raw <= good.Guessing {
		t.Errorf("a judge that agrees: %+v", good)
	}
	lenient := evaluate.Agree(judged(100, func(_ *rand.Rand, person int) int { return min(2, person+1) }))
	if !warned(lenient, "higher than people") || lenient.Bias.Low <= 0 || lenient.MayGate {
		t.Errorf("a lenient judge: %+v", lenient)
	}
	strict := evaluate.Agree(judged(100, func(_ *rand.Rand, person int) int { return max(0, person-1) }))
	if !warned(strict, "lower than people") || strict.MayGate {
		t.Errorf("a strict judge: %+v", strict)
	}
	guess := evaluate.Agree(judged(100, func(r *rand.Rand, _ int) int { return r.IntN(3) }))
	if !warned(guess, "below 0.4") || guess.Kappa.High < guess.Kappa.Low || guess.MayGate {
		t.Errorf("a judge that guesses: %+v", guess)
	}
	constant := evaluate.Agree(judged(100, func(*rand.Rand, int) int { return 2 }))
	if constant.Kappa.Mean != 0 || !warned(constant, "below 0.4") || !warned(constant, "most frequent grade") || constant.MayGate {
		t.Errorf("a judge that always says 2: %+v", constant)
	}
}

func TestKappa(t *testing.T) {
	t.Parallel()
	// Of 10 answers, judge and person: 3 times 0 0, 1 time 0 2, 2 times 1 1, 1 time 2 1, 3 times 2 2.
	var pairs []evaluate.Pair
	for _, c := range []struct {
		times         int
		judge, person float64
	}{{3, 0, 0}, {1, 0, 2}, {2, 1.5, 1.5}, {1, 2, 1.5}, {3, 2, 2}} {
		for range c.times {
			pairs = append(pairs, evaluate.Pair{Judge: c.judge, Person: c.person})
		}
	}
	a := evaluate.Agree(pairs)
	// Observed: 1*4 + 1*1 = 5. Expected: judge 4, 2, 4 and person 3, 3, 4 give
	// (4*3*1 + 4*4*4 + 2*3*1 + 2*4*1 + 4*3*4 + 4*3*1) / 10 = 15. Kappa = 1 - 5/15.
	if math.Abs(a.Kappa.Mean-2.0/3) > 1e-12 || a.Raw != .8 || a.Guessing != .4 || a.N != 10 {
		t.Errorf("the agreement is %+v", a)
	}
	for _, undefined := range [][]evaluate.Pair{nil, {{Judge: 2, Person: 2}, {Judge: 2, Person: 2}}} {
		if a := evaluate.Agree(undefined); a.Kappa.Mean != 0 || math.IsNaN(a.Raw) || len(a.Warnings) == 0 || a.MayGate {
			t.Errorf("an undefined kappa: %+v", a)
		}
	}
}

func TestConsistency(t *testing.T) {
	t.Parallel()
	inputs := [][]int{{1}}
	for range 9 {
		inputs = append(inputs, []int{2, 2, 2})
	}
	c := evaluate.Consistent(append(inputs, []int{2, 2, 1}))
	if c.Inputs != 10 || c.Asked != 3 || c.Flipped != 1 || c.Share != .1 || !c.MayGate {
		t.Errorf("one of ten flips: %+v", c)
	}
	if c := evaluate.Consistent(append(inputs, []int{2, 0}, []int{0, 1})); c.MayGate || c.Flipped != 2 {
		t.Errorf("two of eleven flip: %+v", c)
	}
	if c := evaluate.Consistent([][]int{{1}}); c.MayGate {
		t.Errorf("a judge that was asked once: %+v", c)
	}
}
