package evaluate_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/cairn-rag/cairn/internal/evaluate"
)

// drawn returns a score: wrong below p, partial below q, else right.
func drawn(random *rand.Rand, p, q float64) float64 {
	switch x := random.Float64(); {
	case x < p:
		return evaluate.ScoreWrong
	case x < q:
		return evaluate.ScorePartial
	}
	return evaluate.ScoreRight
}

// parallel calls work for 0 to n-1 on the processors of the machine.
func parallel(n int, work func(i int)) {
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			for i := worker; i < n; i += 4 {
				work(i)
			}
		})
	}
	all.Wait()
}

// share returns the share of a list that is true.
func share(list []bool) (share float64) {
	for _, x := range list {
		if x {
			share += 1 / float64(len(list))
		}
	}
	return share
}

// TestCoverage checks by simulation that the 95 % interval has the true mean about that often: for
// scores of usual quality, for nearly perfect ones, and for few items.
func TestCoverage(t *testing.T) {
	t.Parallel()
	const runs = 300
	var report strings.Builder
	for _, c := range []struct {
		name  string
		items int
		p, q  float64
		most  float64
	}{
		{"usual", 60, .2, .5, .985}, {"nearly perfect", 60, .02, .06, 1}, {"few", 20, .2, .5, .985}, {"many", 150, .3, .6, .985}, {"poor", 40, .8, .9, .985},
	} {
		truth := (c.q-c.p)*evaluate.ScorePartial + (1-c.q)*evaluate.ScoreRight
		inside, widths := make([]bool, runs), make([]float64, runs)
		parallel(runs, func(run int) {
			random := rand.New(rand.NewPCG(uint64(run), 1))
			var outcomes []evaluate.Outcome
			for i := range c.items {
				outcomes = append(outcomes, evaluate.Outcome{Item: fmt.Sprint(i), Values: map[evaluate.Measure]float64{evaluate.MeasureScore: drawn(random, c.p, c.q)}})
			}
			e := evaluate.Summarize(outcomes).Scores[evaluate.MeasureScore]
			inside[run], widths[run] = e.Low <= truth && truth <= e.High, e.High-e.Low
		})
		width, share := 0.0, share(inside)
		for _, w := range widths {
			width += w / runs
		}
		fmt.Fprintf(&report, "%-16s %4d items: the interval has the mean in %.1f %% of runs, width %.3f\n", c.name, c.items, 100*share, width)
		if share < .915 || share > c.most {
			t.Errorf("%s: the interval has the mean in %.1f %% of runs", c.name, 100*share)
		}
	}
	t.Logf("\n%s", report.String())
}

// scored returns outcomes of one measure.
func scored(values []float64) []evaluate.Outcome {
	var list []evaluate.Outcome
	for i, x := range values {
		list = append(list, evaluate.Outcome{Item: fmt.Sprint(i), Values: map[evaluate.Measure]float64{evaluate.MeasureScore: x}})
	}
	return list
}

// TestManyItems: at the number of items from which on the interval is that of the standard error, it is nearly
// that of the bootstrap.
func TestManyItems(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(6, 6))
	var values []float64
	for range 1000 {
		values = append(values, drawn(random, .2, .5))
	}
	few, many := evaluate.Interval(values[:999]), evaluate.Interval(values)
	if math.Abs(few.Low-many.Low) > .005 || math.Abs(few.High-many.High) > .005 || many.Low >= many.Mean || many.Mean >= many.High {
		t.Errorf("999 items have the interval %+v, 1000 items %+v", few, many)
	}
}

// TestNoDifferenceIsRarelyCalledOne compares pairs of evaluations between which there is no true
// difference, and pairs with one.
func TestNoDifferenceIsRarelyCalledOne(t *testing.T) {
	t.Parallel()
	const runs = 1000
	called, found := make([]bool, runs), make([]bool, 100)
	parallel(runs, func(run int) {
		random := rand.New(rand.NewPCG(uint64(run), 2))
		var before, same, worse []float64
		for range 60 {
			p := random.Float64() * .6 // of the item: some are hard
			before = append(before, drawn(random, p, p+.3))
			same = append(same, drawn(random, p, p+.3))
			worse = append(worse, drawn(random, p+.3, p+.6))
		}
		called[run] = evaluate.Compare(scored(before), scored(same)).Verdict != evaluate.Undecided
		if run < len(found) {
			found[run] = evaluate.Compare(scored(before), scored(worse)).Verdict == evaluate.Worse
		}
	})
	t.Logf("no difference is called one in %.1f %% of runs, a true one of half a score is found in %.1f %%", 100*share(called), 100*share(found))
	if got := share(called); got < .03 || got > .07 {
		t.Errorf("a difference of 0 is called a difference in %.1f %% of runs", 100*got)
	}
	if got := share(found); got < .9 {
		t.Errorf("a true difference is found in %.1f %% of runs", 100*got)
	}
}

// TestSeveralMeasures compares six measures without a difference: together they may be called one no
// more often than a single one.
func TestSeveralMeasures(t *testing.T) {
	t.Parallel()
	const runs = 200
	called := make([]bool, runs)
	measures := evaluate.Measures()[:6]
	parallel(runs, func(run int) {
		random := rand.New(rand.NewPCG(uint64(run), 3))
		draw := func() (list []evaluate.Outcome) {
			for i := range 60 {
				o := evaluate.Outcome{Item: fmt.Sprint(i), Values: map[evaluate.Measure]float64{}}
				for _, m := range measures {
					o.Values[m] = drawn(random, .3, .6) / 2
				}
				list = append(list, o)
			}
			return list
		}
		called[run] = evaluate.Compare(draw(), draw()).Verdict != evaluate.Undecided
	})
	t.Logf("one of six is called different in %.1f %% of runs", 100*share(called))
	if got := share(called); got > .08 || got == 0 {
		t.Errorf("one of six is called different in %.1f %% of runs", 100*got)
	}
	got := evaluate.HolmOf(.01, .04, .03, .005)
	for i, want := range []float64{.03, .06, .06, .02} {
		if math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("Holm's correction is %v", got)
		}
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	before, after := scored([]float64{2, 2, 1.5, 0, 2}), scored([]float64{2, 0, 1.5, 1.5, 2})
	after = append(after, evaluate.Outcome{Item: "new", Values: map[evaluate.Measure]float64{evaluate.MeasureScore: 2}})
	after[0].Values[evaluate.MeasureLatency], before[0].Values[evaluate.MeasureLatency] = 3, 1
	c := evaluate.Compare(before, after)
	if c.Paired != 5 || c.OnlyBaseline != 0 || c.OnlyCandidate != 1 || len(c.Differences) != 2 || !strings.Contains(c.Note, "2 measures") || !strings.Contains(c.Note, "Holm") {
		t.Errorf("the comparison is %+v", c)
	}
	d := c.Differences[0]
	if math.Abs(d.Mean+.1) > 1e-9 || d.Improved != 1 || d.Worsened != 1 || d.N != 5 || d.Verdict != evaluate.Undecided || d.Low >= 0 || d.High <= 0 {
		t.Errorf("the difference of scores is %+v", d)
	}
	if slower := c.Differences[1]; slower.Worsened != 1 || slower.Improved != 0 {
		t.Errorf("a longer latency counts as %+v", slower)
	}
	if len(c.Changed) != 2 || c.Changed[0] != (evaluate.Change{Item: "1", Measure: evaluate.MeasureScore, Before: 2, After: 0}) {
		t.Errorf("the items that changed are %+v", c.Changed)
	}
	if empty := evaluate.Compare(nil, after); empty.Verdict != evaluate.Undecided || len(empty.Differences) != 0 {
		t.Errorf("without a common item: %+v", empty)
	}
}

// TestRepeats: the repeats of an item are one observation, and their spread is shown.
func TestRepeats(t *testing.T) {
	t.Parallel()
	var once, thrice []evaluate.Outcome
	random := rand.New(rand.NewPCG(4, 4))
	for i := range 40 {
		score := drawn(random, .3, .6)
		for repeat := range 3 {
			o := evaluate.Outcome{Item: fmt.Sprint(i), Repeat: repeat, Values: map[evaluate.Measure]float64{evaluate.MeasureScore: score}}
			if repeat == 0 {
				once = append(once, o)
			}
			thrice = append(thrice, o)
		}
	}
	a, b := evaluate.Summarize(once), evaluate.Summarize(thrice)
	if a.Scores[evaluate.MeasureScore] != b.Scores[evaluate.MeasureScore] || b.Repeats != 3 || b.Items != 40 {
		t.Errorf("equal repeats change the interval: %+v and %+v", a, b)
	}
	random.Shuffle(len(thrice), func(i, j int) { thrice[i], thrice[j] = thrice[j], thrice[i] })
	if c := evaluate.Summarize(thrice); c.Scores[evaluate.MeasureScore] != b.Scores[evaluate.MeasureScore] {
		t.Errorf("the order changes the interval: %+v and %+v", b, c)
	}
	spread := []evaluate.Outcome{
		{Item: "a", Values: map[evaluate.Measure]float64{evaluate.MeasureScore: 0}}, {Item: "a", Repeat: 1, Values: map[evaluate.Measure]float64{evaluate.MeasureScore: 2}},
	}
	if e := evaluate.Summarize(spread).Scores[evaluate.MeasureScore]; e.N != 1 || e.Mean != 1 || math.Abs(e.Within-math.Sqrt2) > 1e-9 {
		t.Errorf("the spread of repeats is %+v", e)
	}
}

// TestSummaryHasNoNaN: failed judgements are counted, and no mean is made of nothing.
func TestSummaryHasNoNaN(t *testing.T) {
	t.Parallel()
	s := evaluate.Summarize([]evaluate.Outcome{
		{Item: "a", Failed: []evaluate.Part{evaluate.PartScore}}, {Item: "b", Error: "timeout"},
		{Item: "c", Values: map[evaluate.Measure]float64{evaluate.MeasureScore: math.NaN(), evaluate.MeasureContext: 2}},
	})
	if _, ok := s.Scores[evaluate.MeasureScore]; ok || s.Failed != 1 || s.Errors != 1 || s.Items != 3 || len(s.Warnings) != 3 {
		t.Errorf("the summary is %+v", s)
	}
	if e := s.Scores[evaluate.MeasureContext]; e.Mean != 2 || e.High != 2 || e.Low >= 1 {
		t.Errorf("one item has the interval %+v, which must leave almost all open", e)
	}
	if s := evaluate.Summarize(nil); len(s.Scores) != 0 || s.Items != 0 {
		t.Errorf("nothing has the summary %+v", s)
	}
}
