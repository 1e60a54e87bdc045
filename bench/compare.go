package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"golang.org/x/perf/benchmath"
)

// confidence is the confidence level of the intervals of the ratios.
const confidence = .95

// errWorse means that the binary is worse than the base's binary.
var errWorse = errors.New("a measure is worse than the base by more than the threshold")

// comparison measures two versions in turns.
type comparison struct {
	base      string // a commit
	versions  string // the folder that keeps the binaries of commits
	rounds    int
	threshold float64 // percent
}

// pair is a measure of both versions.
type pair struct {
	figure                 // its name and direction
	old, current []float64 // a value a round
}

// run builds the base and measures both versions in each round, one measure
// after the other. The version that comes first alternates, so that a machine
// whose speed drifts favours neither.
func (c comparison) run(ctx context.Context, b *bench, chosen []measure) error {
	if c.rounds < 2 {
		return errors.New("a comparison needs at least 2 rounds")
	}
	binary, err := c.build(ctx)
	if err != nil {
		return err
	}
	var pairs []*pair
	for round := range c.rounds {
		for _, m := range chosen {
			fmt.Fprintf(os.Stderr, "round %d of %d: %s\n", round+1, c.rounds, m.name)
			old, current, err := measureBoth(ctx, b, binary, m, round%2 == 0)
			if err != nil {
				return fmt.Errorf("%s: %w", m.name, err)
			}
			pairs = collect(pairs, old, current)
		}
	}
	fmt.Printf("%s against %s, %d rounds\n\n", b.binary, c.base, c.rounds)
	if worse := c.report(os.Stdout, pairs); worse > 0 {
		return fmt.Errorf("%w of %g %%: %d of %d", errWorse, c.threshold, worse, len(pairs))
	}
	return nil
}

// measureBoth runs one measure on the base and on the current binary.
func measureBoth(ctx context.Context, b *bench, base string, m measure, baseFirst bool) (old, current []figure, err error) {
	one := func(binary string) []figure {
		version := *b
		version.binary, version.out = binary, io.Discard
		figures, failed := m.run(ctx, &version)
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("%s: %w", binary, failed))
		}
		return figures
	}
	if baseFirst {
		old = one(base)
		return old, one(b.binary), err
	}
	current = one(b.binary)
	return one(base), current, err
}

// collect adds the figures of one round to the pairs by their names. A figure
// that only one of the versions has is left out.
func collect(pairs []*pair, old, current []figure) []*pair {
	for _, f := range current {
		for _, before := range old {
			if before.name != f.name {
				continue
			}
			i := 0
			for i < len(pairs) && pairs[i].name != f.name {
				i++
			}
			if i == len(pairs) {
				pairs = append(pairs, &pair{figure: f})
			}
			pairs[i].old, pairs[i].current = append(pairs[i].old, before.value), append(pairs[i].current, f.value)
		}
	}
	return pairs
}

// report writes a Markdown table and returns how many measures are worse.
func (c comparison) report(w io.Writer, pairs []*pair) (worse int) {
	fmt.Fprintln(w, "| measure | base | new | new / base | 95 % interval | verdict |")
	fmt.Fprintln(w, "|---|---|---|---|---|---|")
	for _, p := range pairs {
		ratio, low, high, ok := p.ratio()
		if !ok {
			fmt.Fprintf(w, "| %s | %s | %s | | | |\n", p.name, short(median(p.old)), short(median(p.current)))
			continue
		}
		verdict := p.verdict(low, high, c.threshold)
		if verdict == verdictWorse {
			worse++
		}
		fmt.Fprintf(w, "| %s | %s | %s | %.2f | %.2f to %.2f | %s |\n", p.name, short(median(p.old)), short(median(p.current)), ratio, low, high, verdict)
	}
	return worse
}

// ratio returns the geometric mean of the rounds' ratios new/base, with its
// confidence interval by Student's t of their logarithms. There is none where a
// value is 0 or only one round has the figure.
func (p *pair) ratio() (mean, low, high float64, ok bool) {
	var logs []float64
	for i := range p.old {
		if p.old[i] <= 0 || p.current[i] <= 0 {
			return 0, 0, 0, false
		}
		logs = append(logs, math.Log(p.current[i]/p.old[i]))
	}
	if len(logs) < 2 {
		return 0, 0, 0, false
	}
	s := benchmath.AssumeNormal.Summary(benchmath.NewSample(logs, &benchmath.DefaultThresholds), confidence)
	return math.Exp(s.Center), math.Exp(s.Lo), math.Exp(s.Hi), true
}

const (
	verdictWorse  = "worse"
	verdictBetter = "better"
	verdictSame   = ""
)

// verdict returns what the whole interval of a ratio shows: worse than the base by
// more than the threshold in percent, or better than the base.
func (p *pair) verdict(low, high, threshold float64) string {
	if p.higher { // a ratio of 1/x is then what x is otherwise
		low, high = 1/high, 1/low
	}
	switch {
	case low > 1+threshold/100:
		return verdictWorse
	case high < 1:
		return verdictBetter
	}
	return verdictSame
}
