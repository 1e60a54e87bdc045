package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/evaluate"
)

type evaluationsCmd struct {
	List    evaluationsListCmd    `cmd:"" help:"List evaluations, newest first."`
	Show    evaluationsShowCmd    `cmd:"" help:"Show the scores of an evaluation, and its lowest items."`
	Compare evaluationsCompareCmd `cmd:"" help:"Compare two evaluations."`
	Apply   evaluationsApplyCmd   `cmd:"" help:"Make a configuration of an experiment the saved one."`
	Pause   evaluationsPauseCmd   `cmd:"" help:"Pause an evaluation."`
	Resume  evaluationsResumeCmd  `cmd:"" help:"Resume an evaluation."`
	Cancel  evaluationsCancelCmd  `cmd:"" help:"Cancel an evaluation."`
}

// Help returns an example of the commands.
func (evaluationsCmd) Help() string { return "Example:\n\n    cairn evaluations list --project legal" }

type evaluationsListCmd struct {
	listFlags
	Project string `short:"p" help:"Only evaluations of this project."`
	Limit   atMost `default:"20" help:"The largest number of evaluations; 0 = all."`
}

// Help returns the command's example.
func (evaluationsListCmd) Help() string {
	return "Example:\n\n    cairn evaluations list --project legal --json"
}

// Run lists evaluations.
func (l evaluationsListCmd) Run(ctx context.Context, a *app) error {
	c, err := l.connectProject(ctx, &l.Project)
	if err != nil {
		return err
	}
	list, err := pages(int(l.Limit), func(cursor string, limit int) (client.List[client.Evaluation], error) {
		return c.Evaluations(ctx, l.Project, cursor, limit)
	})
	if err != nil {
		return err
	}
	if l.forPrograms() {
		return l.write(a, client.List[client.Evaluation]{Data: list})
	}
	rows := make([][]string, 0, len(list))
	for _, e := range list {
		rows = append(rows, []string{e.ID, e.Status, e.ProjectID, e.TestSetName, fmt.Sprint(e.Progress.Total), mean(e, "score"), mean(e, "context"), mean(e, "faithfulness"), l.when(a, e.CreatedAt)})
	}
	return l.table(a, listing{
		none:   "no evaluations; cairn evaluate starts one",
		header: []string{"ID", "STATUS", "PROJECT", "TEST SET", "ITEMS", "SCORE", "CONTEXT", "FAITHFUL", "CREATED"},
		rows:   rows,
		spare:  []string{"FAITHFUL", "CONTEXT", "PROJECT", "CREATED", "TEST SET"},
	})
}

// mean returns the mean of a measure, "" if it was not measured.
func mean(e client.Evaluation, measure string) string {
	estimate, there := e.Scores[measure]
	if !there {
		return ""
	}
	return fmt.Sprintf("%.2f", estimate.Mean)
}

type evaluationsShowCmd struct {
	clientFlags
	ID    string `arg:"" help:"The evaluation."`
	JUnit string `name:"junit" placeholder:"FILE" help:"Write a JUnit report."`
}

// Help returns the command's example.
func (evaluationsShowCmd) Help() string {
	return "Example:\n\n    cairn evaluations show 1f0c6f0e-52a5-4a0e-9f6b-3d1c8a7e2b11"
}

// Run shows an evaluation.
func (s evaluationsShowCmd) Run(ctx context.Context, a *app) error {
	c, err := s.connectEvaluation(ctx, &s.ID)
	if err != nil {
		return err
	}
	e, err := wholeEvaluation(ctx, c, s.ID)
	if err != nil {
		return err
	}
	report, err := reportOf(e, nil)
	if err != nil {
		return err
	}
	if s.JUnit != "" {
		if err := writeJUnit(s.JUnit, report); err != nil {
			return err
		}
	}
	if s.forPrograms() {
		return s.write(a, e)
	}
	fmt.Fprintf(a.stdout, "%s: %s, %d of %d items ended\n", e.ID, e.Status, e.Progress.Ended(), e.Progress.Total)
	if e.Error != nil {
		fmt.Fprintf(a.stdout, "%s: %s\n", e.Error.Code, e.Error.Message)
	}
	if len(e.Cells) > 0 {
		return writeExperiment(a, e)
	}
	return evaluate.WriteTable(a.stdout, report)
}

type evaluationsCompareCmd struct {
	clientFlags
	Baseline  string `arg:"" help:"The earlier evaluation."`
	Candidate string `arg:"" help:"The evaluation that is compared with it; of an experiment it may be the same."`

	Cell          int `placeholder:"N" help:"The configuration of the earlier one, if it is an experiment. Default: the saved settings."`
	CandidateCell int `placeholder:"N" help:"The same of the other one."`
}

// Help returns the command's example.
func (evaluationsCompareCmd) Help() string {
	return "The differences are paired by items. Exit code 1 if the candidate is worse.\n\nExample:\n\n" +
		"    cairn evaluations compare 1f0c6f0e-52a5-4a0e-9f6b-3d1c8a7e2b11 7d3f2c1e-0a35-4a3e-a3bb-0d6a9a1f2c11"
}

// Run compares two evaluations.
func (p evaluationsCompareCmd) Run(ctx context.Context, a *app) error {
	c, err := p.connectEvaluation(ctx, &p.Baseline, &p.Candidate)
	if err != nil {
		return err
	}
	compared, err := compareEvaluations(ctx, c, p.Baseline, p.Candidate, p.Cell, p.CandidateCell)
	if err != nil {
		return err
	}
	if p.forPrograms() {
		err = p.write(a, compared)
	} else {
		err = writeComparison(a, *compared)
	}
	if err == nil && compared.Verdict == evaluate.Worse {
		err = gateError{"the candidate is worse", exitFailed}
	}
	return err
}

// writeComparison prints a comparison as a table.
func writeComparison(a *app, c comparison) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d items are paired: %s\n", c.Paired, c.Verdict)
	for _, d := range c.Differences {
		fmt.Fprintf(&b, "%-13s %+.3f (%+.3f to %+.3f)  %s, %d better, %d worse\n", d.Measure, d.Mean, d.Low, d.High, d.Verdict, d.Improved, d.Worsened)
	}
	if c.Note != "" {
		fmt.Fprintln(&b, c.Note)
	}
	for _, warning := range c.Warnings {
		fmt.Fprintln(&b, "warning:", warning)
	}
	for _, change := range c.Changed[:min(len(c.Changed), 10)] {
		fmt.Fprintf(&b, "  %s: %s %.2f -> %.2f\n", change.Item, change.Measure, change.Before, change.After)
	}
	_, err := fmt.Fprint(a.stdout, b.String())
	return err
}

type evaluationsPauseCmd struct {
	clientFlags
	ID string `arg:"" help:"The evaluation."`
}

// Help returns the command's example.
func (evaluationsPauseCmd) Help() string {
	return "Questions that are being answered are finished.\n\nExample:\n\n    cairn evaluations pause 1f0c6f0e-52a5-4a0e-9f6b-3d1c8a7e2b11"
}

// Run pauses an evaluation.
func (p evaluationsPauseCmd) Run(ctx context.Context, a *app) error {
	return controlEvaluation(ctx, a, p.clientFlags, p.ID, "pause")
}

type evaluationsResumeCmd struct {
	clientFlags
	ID string `arg:"" help:"The evaluation."`
}

// Help returns the command's example.
func (evaluationsResumeCmd) Help() string {
	return "Example:\n\n    cairn evaluations resume 1f0c6f0e-52a5-4a0e-9f6b-3d1c8a7e2b11"
}

// Run resumes an evaluation.
func (r evaluationsResumeCmd) Run(ctx context.Context, a *app) error {
	return controlEvaluation(ctx, a, r.clientFlags, r.ID, "resume")
}

type evaluationsCancelCmd struct {
	clientFlags
	ID string `arg:"" help:"The evaluation."`
}

// Help returns the command's example.
func (evaluationsCancelCmd) Help() string {
	return "Example:\n\n    cairn evaluations cancel 1f0c6f0e-52a5-4a0e-9f6b-3d1c8a7e2b11"
}

// Run cancels an evaluation.
func (k evaluationsCancelCmd) Run(ctx context.Context, a *app) error {
	return controlEvaluation(ctx, a, k.clientFlags, k.ID, "cancel")
}

func controlEvaluation(ctx context.Context, a *app, flags clientFlags, id, action string) error {
	c, err := flags.connectEvaluation(ctx, &id)
	if err != nil {
		return err
	}
	e, err := c.ControlEvaluation(ctx, id, action)
	if err != nil {
		return err
	}
	if flags.forPrograms() {
		return flags.write(a, e)
	}
	_, err = fmt.Fprintln(a.stdout, "asked evaluation", id, "to", action)
	return err
}
