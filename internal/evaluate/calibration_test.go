package evaluate_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/evaluate"
)

// TestReportsShowCalibration looks for the judge, its rubric and what is known of it beside the scores.
func TestReportsShowCalibration(t *testing.T) {
	t.Parallel()
	r := report(t)
	rubric, agreement := evaluate.CurrentRubric(), evaluate.Agree(judged(60, func(_ *rand.Rand, person int) int { return person }))
	consistency := evaluate.Consistent([][]int{{2, 2, 1}, {0, 0, 0}})
	r.Judge, r.Rubric, r.Agreement, r.Consistency = "judge-1", &rubric, &agreement, &consistency
	var table, junit strings.Builder
	if err := evaluate.WriteTable(&table, r); err != nil {
		t.Fatal(err)
	}
	if err := evaluate.WriteJUnit(&junit, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"judge-1, rubric 1 (" + rubric.Hash + ")", "kappa 1.00 (1.00 to 1.00) over 60 answers", "different grades when asked up to 3 times, more than 10 %"} {
		for name, text := range map[string]string{"table": table.String(), "JUnit": junit.String()} {
			if !strings.Contains(text, want) {
				t.Errorf("the %s lacks %q:\n%s", name, want, text)
			}
		}
	}
}
