package evaluate

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
)

// listedItems is how many of the lowest items a table lists.
const listedItems = 10

// WriteTable writes a report as plain text: a line for each measure with its interval, the
// differences to the baseline, the lowest items, and the decision of the gate.
func WriteTable(w io.Writer, r Report) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d items", r.Name, r.Summary.Items)
	if r.Summary.Repeats > 1 {
		fmt.Fprintf(&b, ", each up to %d times", r.Summary.Repeats)
	}
	fmt.Fprintf(&b, ", judged by %s\n", r.by())
	for _, text := range r.calibration() {
		fmt.Fprintln(&b, text)
	}
	b.WriteByte('\n')
	r.writeMeasures(&b)
	if r.Compared != nil {
		r.Compared.write(&b)
	}
	r.writeLowest(&b)
	for _, warning := range r.Summary.Warnings {
		fmt.Fprintf(&b, "\nwarning: %s", warning)
	}
	if len(r.Summary.Warnings) > 0 {
		b.WriteByte('\n')
	}
	if r.Decided != nil {
		b.WriteByte('\n')
		for _, reason := range r.Decided.Reasons {
			fmt.Fprintln(&b, reason)
		}
		fmt.Fprintln(&b, r.Decided.word())
	}
	_, err := io.WriteString(w, shown(b.String()))
	return err
}

// shown returns a text for a terminal: without control characters, which an answer may have, and which
// would move the cursor or change what stands above.
func shown(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return '\ufffd'
		}
		return r
	}, text)
}

func (r Report) writeMeasures(b *strings.Builder) {
	fmt.Fprintf(b, "%-14s %10s   %-24s %6s\n", "measure", "mean", "95 % interval", "items")
	for _, m := range Measures() {
		e, ok := r.Summary.Scores[m]
		if !ok {
			continue
		}
		fmt.Fprintf(b, "%-14s %10.3f   %-24s %6d", m, e.Mean, fmt.Sprintf("%.3f to %.3f", e.Low, e.High), e.N)
		if e.Within > 0 {
			fmt.Fprintf(b, "   repeats of an item differ by %.3f", e.Within)
		}
		b.WriteByte('\n')
	}
}

// write writes the differences to the baseline and the items that changed most.
func (c *Comparison) write(b *strings.Builder) {
	fmt.Fprintf(b, "\nbeside the baseline: %s, over %d items that both have\n", c.Verdict, c.Paired)
	fmt.Fprintf(b, "%-14s %10s   %-24s %6s %6s %8s   %s\n", "measure", "difference", "95 % interval", "up", "down", "p (Holm)", "verdict")
	for _, d := range c.Differences {
		fmt.Fprintf(b, "%-14s %+10.3f   %-24s %6d %6d %8.4f   %s\n", d.Measure, d.Mean, fmt.Sprintf("%+.3f to %+.3f", d.Low, d.High), d.Improved, d.Worsened, d.Holm, d.Verdict)
	}
	fmt.Fprintln(b, c.Note)
	if len(c.Changed) > 0 {
		fmt.Fprintln(b, "\nitems that changed most")
	}
	for _, x := range c.Changed[:min(len(c.Changed), listedItems)] {
		fmt.Fprintf(b, "  %-14s %5.2f -> %5.2f   %s\n", x.Measure, x.Before, x.After, x.Item)
	}
}

// writeLowest lists the answers with the lowest scores below the best one.
func (r Report) writeLowest(b *strings.Builder) {
	items := itemsByID(r.Items)
	low := slices.DeleteFunc(slices.Clone(r.Results), func(x Result) bool {
		score, ok := x.Outcome.Values[MeasureScore]
		return !ok || score >= ScoreRight
	})
	slices.SortStableFunc(low, func(x, y Result) int {
		return cmp.Or(cmp.Compare(x.Outcome.Values[MeasureScore], y.Outcome.Values[MeasureScore]), strings.Compare(x.Outcome.Item, y.Outcome.Item))
	})
	if len(low) > 0 {
		fmt.Fprintln(b, "\nlowest scores")
	}
	for _, x := range low[:min(len(low), listedItems)] {
		question := strings.Join(strings.Fields(clip(items[x.Outcome.Item].Question, 80)), " ")
		fmt.Fprintf(b, "  %4.1f  %s  %s\n        %s\n", x.Outcome.Values[MeasureScore], x.Outcome.Item, question, strings.Join(strings.Fields(clip(x.Judgement.Reason, 160)), " "))
	}
	if more := len(low) - listedItems; more > 0 {
		fmt.Fprintf(b, "  and %d more below %g\n", more, ScoreRight)
	}
}

func (d *Decision) word() string {
	switch d.Exit {
	case ExitPassed:
		return "passed"
	case ExitUndecided:
		return "undecided: more items or repeats are needed"
	case ExitBrokenJudge:
		return "the judge cannot be relied on, so nothing is decided"
	}
	return "failed"
}
