package evaluate_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/evaluate"
	"github.com/google/go-cmp/cmp"
)

func TestParseGate(t *testing.T) {
	t.Parallel()
	got, err := evaluate.ParseGate("score=1.6, Context = 1.5,latency=20")
	want := evaluate.Gate{{Measure: evaluate.MeasureScore, Value: 1.6}, {Measure: evaluate.MeasureContext, Value: 1.5}, {Measure: evaluate.MeasureLatency, Value: 20}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("error %v, gate (-want +got):\n%s", err, diff)
	}
	for _, text := range []string{"", "score", "score=", "score=high", "score=2.1", "score=-1", "score=NaN", "recall10=1.5", "score=1,score=2", "scores=1", "score=1,"} {
		if got, err := evaluate.ParseGate(text); err == nil {
			t.Errorf("%q is the gate %v", text, got)
		}
	}
}

func TestGate(t *testing.T) {
	t.Parallel()
	summary := func(mean, low, high float64) evaluate.Summary {
		return evaluate.Summary{Judged: 100, Scores: map[evaluate.Measure]evaluate.Estimate{
			evaluate.MeasureScore: {Mean: mean, Low: low, High: high, N: 60}, evaluate.MeasureLatency: {Mean: 5, Low: 4, High: 6, N: 60},
		}}
	}
	good := summary(1.8, 1.7, 1.9)
	failing, failed, few := good, good, summary(2, 2, 2)
	failing.Failed, failed.Errors = 6, 2
	few.Scores[evaluate.MeasureScore] = evaluate.Estimate{Mean: 2, Low: 1.9, High: 2, N: 3}
	worse := evaluate.Comparison{Differences: []evaluate.Difference{{Measure: evaluate.MeasureContext, Mean: -.2, Verdict: evaluate.Worse}}}
	slower := evaluate.Comparison{Differences: []evaluate.Difference{{Measure: evaluate.MeasureLatency, Mean: 2, Verdict: evaluate.Worse}}}
	flips := evaluate.Consistent([][]int{{2, 2}, {2, 1}, {0, 0}})
	steady := evaluate.Consistent([][]int{{2, 2}, {1, 1}, {0, 0}})
	for name, c := range map[string]struct {
		gate        string
		summary     evaluate.Summary
		compared    *evaluate.Comparison
		consistency *evaluate.Consistency
		exit        int
		reason      string
	}{
		"above":                       {"score=1.6", good, nil, &steady, evaluate.ExitPassed, "passed"},
		"the bound decides, not mean": {"score=1.75", good, nil, nil, evaluate.ExitUndecided, "undecided"},
		"below":                       {"score=1.95", good, nil, nil, evaluate.ExitBelow, "failed"},
		"fast enough":                 {"latency=7", good, nil, nil, evaluate.ExitPassed, "at most 7"},
		"perhaps too slow":            {"latency=5", good, nil, nil, evaluate.ExitUndecided, "undecided"},
		"too slow":                    {"latency=3", good, nil, nil, evaluate.ExitBelow, "failed"},
		"below goes before undecided": {"score=1.75,latency=3", good, nil, nil, evaluate.ExitBelow, "undecided"},
		"worse than the baseline":     {"score=1.6", good, &worse, nil, evaluate.ExitBelow, "context is worse"},
		"slower than the baseline":    {"score=1.6", good, &slower, nil, evaluate.ExitPassed, "passed"},
		"not measured":                {"recall10=.5", good, nil, nil, evaluate.ExitUndecided, "not measured"},
		"few items":                   {"score=1.6", few, nil, nil, evaluate.ExitUndecided, "fewer than 5"},
		"questions that failed":       {"score=1.6", failed, nil, nil, evaluate.ExitUndecided, "2 questions failed"},
		"a judge that fails":          {"score=1.95", failing, nil, nil, evaluate.ExitBrokenJudge, "6 of 100"},
		"a judge that flips":          {"score=1.6", good, nil, &flips, evaluate.ExitBrokenJudge, "1 of 3"},
		"a judge asked once":          {"score=1.6", good, nil, &evaluate.Consistency{}, evaluate.ExitBrokenJudge, "judged twice"},
	} {
		gate, err := evaluate.ParseGate(c.gate)
		if err != nil {
			t.Fatal(err)
		}
		d := gate.Decide(c.summary, c.compared, c.consistency)
		if d.Exit != c.exit || d.Passed != (c.exit == 0) || !strings.Contains(strings.Join(d.Reasons, "\n"), c.reason) {
			t.Errorf("%s: %+v, want exit %d and %q", name, d, c.exit, c.reason)
		}
	}
}
