package evaluate_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/evaluate"
)

// withScores returns outcomes with these scores, of one item each.
func withScores(scores []float64) []evaluate.Outcome {
	list := make([]evaluate.Outcome, 0, len(scores))
	for i, score := range scores {
		list = append(list, evaluate.Outcome{Item: fmt.Sprint("q", i), Values: map[evaluate.Measure]float64{evaluate.MeasureScore: score}})
	}
	return list
}

// shareRight returns scores of which a share is right, and the others wrong.
func shareRight(source *rand.Rand, count int, right float64) []float64 {
	scores := make([]float64, count)
	for i := range scores {
		if source.Float64() < right {
			scores[i] = evaluate.ScoreRight
		}
	}
	return scores
}

func TestCompareAll(t *testing.T) {
	t.Parallel()
	t.Run("one_candidate_is_compared_as_alone", func(t *testing.T) {
		t.Parallel()
		source := rand.New(rand.NewPCG(1, 2))
		baseline, candidate := withScores(shareRight(source, 50, .5)), withScores(shareRight(source, 50, .7))
		if diff := cmp.Diff(evaluate.Compare(baseline, candidate), evaluate.CompareAll(baseline, [][]evaluate.Outcome{candidate})[0]); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("the_only_better_one_of_31_is_found", func(t *testing.T) {
		t.Parallel()
		source := rand.New(rand.NewPCG(3, 4))
		baseline := withScores(shareRight(source, 60, .3))
		var candidates [][]evaluate.Outcome
		for i := range 31 {
			right := .3
			if i == 17 {
				right = .9
			}
			candidates = append(candidates, withScores(shareRight(source, 60, right)))
		}
		for i, c := range evaluate.CompareAll(baseline, candidates) {
			want := evaluate.Undecided
			if i == 17 {
				want = evaluate.Better
			}
			if c.Verdict != want {
				t.Errorf("candidate %d is %s: %+v", i, c.Verdict, c.Differences)
			}
		}
	})
	t.Run("without_a_difference_one_in_twenty_experiments_finds_one", func(t *testing.T) {
		t.Parallel()
		const experiments, cells = 400, 5
		source, found := rand.New(rand.NewPCG(5, 6)), 0
		for range experiments {
			baseline := withScores(shareRight(source, 30, .6))
			var candidates [][]evaluate.Outcome
			for range cells {
				candidates = append(candidates, withScores(shareRight(source, 30, .6)))
			}
			if slices.ContainsFunc(evaluate.CompareAll(baseline, candidates), func(c evaluate.Comparison) bool { return c.Verdict != evaluate.Undecided }) {
				found++
			}
		}
		t.Logf("%d of %d experiments found a difference", found, experiments)
		if share := float64(found) / experiments; share > .08 {
			t.Errorf("%d of %d experiments found a difference that is not there", found, experiments)
		}
	})
}

func TestForReview(t *testing.T) {
	t.Parallel()
	score := func(value float64) *float64 { return &value }
	list := []evaluate.Scored{
		{Number: 1, Item: "a", Score: score(2)}, {Number: 2, Item: "b", Score: score(0)}, {Number: 3, Item: "c", Score: score(1.5), People: []float64{0}},
		{Number: 4, Item: "a", Score: score(1.5)}, {Number: 5, Item: "d"}, {Number: 6, Item: "e", Score: score(2), People: []float64{2}},
	}
	for name, test := range map[string]struct {
		by   evaluate.Sampling
		want []int
		any  bool // the order of equal ones is random
	}{
		"random has all":               {evaluate.SamplingRandom, []int{1, 2, 3, 4, 5, 6}, true},
		"disagreement, the most first": {evaluate.SamplingDisagreement, []int{3, 1, 4}, false},
		"low scores first":             {evaluate.SamplingLowScore, []int{2, 3, 4, 1, 6, 5}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := evaluate.ForReview(list, test.by)
			if diff := cmp.Diff(got, evaluate.ForReview(list, test.by)); diff != "" {
				t.Errorf("the order changes: %s", diff)
			}
			if test.any {
				slices.Sort(got)
			}
			if name == "low scores first" {
				slices.Sort(got[1:3])
				slices.Sort(got[3:5])
			}
			if test.by == evaluate.SamplingDisagreement {
				slices.Sort(got[1:])
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
