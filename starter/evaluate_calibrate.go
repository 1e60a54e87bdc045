package main

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/evaluate"
	"github.com/cairn-rag/cairn/starter/terminal"
)

type evaluateCalibrateCmd struct {
	clientFlags
	ID    string `arg:"" help:"The evaluation, whose answers people have scored or now score."`
	Score int    `placeholder:"N" help:"First ask for the scores of N answers that you have not scored, without showing those of the judge: 0, 1 or 2, s to skip, q to stop."`
	Judge string `placeholder:"MODEL" help:"Have this chat model judge the same answers. Default: the judge of the evaluation."`
	Times int    `placeholder:"N" default:"3" help:"How often the model scores each of the first 50 answers; 1 asks nothing anew."`
	Seed  uint64 `default:"1" help:"Chooses the answers to score."`
}

// Help returns the command's details and examples.
func (evaluateCalibrateCmd) Help() string {
	return fmt.Sprintf("People score answers before they see the scores of the judge, here or in the console. At least %d answers are needed. The judge then scores the same answers again, some of them several times, and the command shows "+
		"Cohen's kappa with quadratic weights, the agreement beside that of always guessing the most frequent score, the bias, and how often the judge contradicts itself.\n\n", evaluate.LeastCalibrated) +
		"Exit codes: 0 the judge can gate, 5 it cannot, 4 too few answers are scored to say so. 1, 2, 3 and 130 are as for all commands.\n\nExample:\n\n" +
		"    cairn evaluate calibrate 1f0c6f0e-52a5-4a0e-9f6b-3d1c8a7e2b11 --score 50\n" +
		"    cairn evaluate calibrate 1f0c6f0e-52a5-4a0e-9f6b-3d1c8a7e2b11 --judge gpt-4o --times 5"
}

// calibration is what the command prints for programs.
type calibration struct {
	Evaluation  string                `json:"evaluation"`
	Judge       string                `json:"judge"`
	Rubric      *evaluate.Rubric      `json:"rubric,omitempty"`
	Agreement   *evaluate.Agreement   `json:"agreement"`
	Consistency *evaluate.Consistency `json:"consistency,omitempty"`
	Reasons     []string              `json:"reasons"` // why the judge cannot gate
	MayGate     bool                  `json:"may_gate"`
}

// Run calibrates a judge.
func (k evaluateCalibrateCmd) Run(ctx context.Context, a *app) error {
	c, err := k.connectEvaluation(ctx, &k.ID)
	if err != nil {
		return err
	}
	if k.Score > 0 {
		if err := k.score(ctx, a, c); err != nil {
			return err
		}
	}
	e, err := k.judged(ctx, a, c)
	if err != nil {
		return err
	}
	report, err := reportOf(e, nil)
	if err != nil {
		return err
	}
	if report.Agreement == nil {
		return fmt.Errorf("no answer of evaluation %s has been scored by a person: --score 50 asks for scores", k.ID)
	}
	out := calibration{e.ID, e.Judge, report.Rubric, report.Agreement, report.Consistency, append([]string{}, report.Agreement.Against...), report.Agreement.MayGate}
	if report.Consistency != nil && !report.Consistency.MayGate {
		out.Reasons, out.MayGate = append(out.Reasons, report.Consistency.Reason()), false
	}
	if k.forPrograms() {
		err = k.write(a, out)
	} else {
		err = out.print(a)
	}
	switch {
	case err != nil:
		return err
	case !out.MayGate:
		return gateError{"the judge cannot gate: " + strings.Join(out.Reasons, "; "), evaluate.ExitBrokenJudge}
	case out.Agreement.N < evaluate.LeastCalibrated:
		return gateError{fmt.Sprintf("%d answers are scored, and %d are needed", out.Agreement.N, evaluate.LeastCalibrated), evaluate.ExitUndecided}
	}
	return nil
}

// judged returns the evaluation whose judge is calibrated: one that judges the same answers again, if
// a model is to judge them.
func (k evaluateCalibrateCmd) judged(ctx context.Context, a *app, c *client.Client) (client.Evaluation, error) {
	e, err := c.Evaluation(ctx, k.ID, "", 1)
	if err != nil {
		return e, err
	}
	judge := k.Judge
	if judge == "" && k.Times > 1 && len(e.Rubric) > 0 { // only a model has one
		judge = e.Judge
	}
	if judge == "" {
		return e, nil
	}
	again, err := c.StartEvaluation(ctx, client.NewEvaluation{Of: k.ID, Judge: &client.Judge{Model: judge, Times: k.Times}})
	if err != nil {
		return again, err
	}
	n := narrator{app: a, quiet: k.forPrograms()}
	if _, err := n.end(ctx, c, again.RunID); err != nil {
		return again, err
	}
	return c.Evaluation(ctx, again.ID, "", 1)
}

func (k calibration) print(a *app) error {
	g := k.Agreement
	var b strings.Builder
	fmt.Fprintf(&b, "judge      %s\n", k.Judge)
	if k.Rubric != nil {
		fmt.Fprintf(&b, "rubric     %d (%s)\n", k.Rubric.Version, k.Rubric.Hash)
	}
	fmt.Fprintf(&b, "reviews    %d\nkappa      %.2f (%.2f to %.2f)\nagreement  %.2f (always the most frequent score: %.2f)\nbias       %+.2f (%+.2f to %+.2f), judge minus person\n",
		g.N, g.Kappa.Mean, g.Kappa.Low, g.Kappa.High, g.Raw, g.Guessing, g.Bias.Mean, g.Bias.Low, g.Bias.High)
	if k.Consistency != nil {
		fmt.Fprintf(&b, "flips      %s\n", k.Consistency.Reason())
	}
	for _, warning := range g.Warnings {
		fmt.Fprintln(&b, "warning:", warning)
	}
	_, err := fmt.Fprint(a.stdout, b.String())
	return err
}

// score asks for the scores of answers that the caller has not scored, in an order of their own.
func (k evaluateCalibrateCmd) score(ctx context.Context, a *app, c *client.Client) error {
	items, err := pages(0, func(cursor string, limit int) (client.List[client.EvaluatedItem], error) {
		return c.BlindItems(ctx, k.ID, cursor, limit)
	})
	if err != nil {
		return err
	}
	items = slices.DeleteFunc(items, func(i client.EvaluatedItem) bool {
		return i.State != "judged" || i.Reference == "" || i.Withheld || len(i.Reviews) > 0
	})
	random := rand.New(rand.NewPCG(k.Seed, k.Seed))
	random.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	items = items[:min(len(items), k.Score)]
	lines := bufio.NewScanner(a.stdin)
	for n, i := range items {
		fmt.Fprintf(a.stderr, "\n%d of %d\nquestion   %s\nreference  %s\nanswer     %s\nscore (0 wrong, 1 partly right, 2 right, s, q): ", n+1, len(items), terminal.Clean(i.Question), terminal.Clean(i.Reference), terminal.Clean(evaluate.PlainAnswer(i.Answer)))
		grade, more := readGrade(lines)
		if !more {
			break
		}
		if grade < 0 {
			continue
		}
		if err := c.ReviewItem(ctx, k.ID, i.ID, i.Repeat, float64(grade)); err != nil {
			return err
		}
	}
	fmt.Fprintln(a.stderr)
	return lines.Err()
}

// readGrade reads a score, -1 = skip. more is false at the end.
func readGrade(lines *bufio.Scanner) (grade int, more bool) {
	for lines.Scan() {
		switch text := strings.TrimSpace(lines.Text()); text {
		case "0", "1", "2":
			return int(text[0] - '0'), true
		case "s":
			return -1, true
		case "q":
			return -1, false
		}
	}
	return -1, false
}
