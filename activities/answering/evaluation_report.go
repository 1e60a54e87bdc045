package answering

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/evaluate"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
)

// MeasureInput ends the work of an evaluation.
type MeasureInput struct {
	knowledge.RunRef
	Stopped string `json:"stopped,omitempty"` // the part of the budget that was used up
	Tell    bool   `json:"tell,omitempty"`    // webhooks of the results
}

// MeasureEvaluation stores the means of what was judged.
func (a *Evaluating) MeasureEvaluation(ctx context.Context, in MeasureInput) error {
	defer step.Heartbeat(ctx)()
	if err := a.measure(ctx, in); err != nil {
		return a.fail(ctx, in.RunRef, fmt.Errorf("measure evaluation %s: %w", in.Run, err))
	}
	return nil
}

func (a *Evaluating) measure(ctx context.Context, in MeasureInput) error {
	var snapshot record.Evaluation
	if err := a.Blobs.GetJSON(ctx, in.RequestKey(), &snapshot); err != nil {
		return err
	}
	rows, err := a.Evaluations.ItemsForSystem(ctx, in.Run)
	if err != nil {
		return err
	}
	cells := make([]measuredCell, snapshot.Settings.CellCount())
	var grades [][]int
	for _, row := range rows {
		if !row.State.Final() {
			continue
		}
		var result record.ItemResult
		if err := json.Unmarshal(row.Result, &result); err != nil {
			return fmt.Errorf("decode the result of item %d: %w", row.Number, err)
		}
		cell := &cells[row.Cell-1]
		cell.outcomes = append(cell.outcomes, result.Outcome)
		cell.used.Add(result.Usage)
		grades = append(grades, result.Grades)
	}
	report := record.EvaluationReport{Judge: snapshot.Settings.Judge.Name(), Stopped: in.Stopped, Rubric: evaluate.CurrentRubric(), Summary: evaluate.Summarize(cells[0].outcomes)}
	if len(cells) > 1 {
		report.Cells = cellReports(cells)
	}
	if snapshot.Settings.Judge.Times > 1 {
		consistency := evaluate.Consistent(grades)
		if report.Consistency = &consistency; !consistency.MayGate {
			report.Warnings = append(report.Warnings, consistency.Reason())
		}
	}
	encoded, err := json.Marshal(report)
	if err != nil {
		return fmt.Errorf("encode the report: %w", err)
	}
	return a.Evaluations.SetReport(ctx, in.Workspace, in.Run, encoded, in.Tell)
}

// measuredCell is what was judged of a configuration of an experiment.
type measuredCell struct {
	outcomes []evaluate.Outcome
	used     knowledge.Usage
}

// cellReports compares the cells of an experiment with the first one.
func cellReports(cells []measuredCell) []record.CellReport {
	var others [][]evaluate.Outcome
	for _, cell := range cells[1:] {
		others = append(others, cell.outcomes)
	}
	compared := evaluate.CompareAll(cells[0].outcomes, others)
	reports := make([]record.CellReport, 0, len(cells))
	for i, cell := range cells {
		report := record.CellReport{Summary: evaluate.Summarize(cell.outcomes), Usage: cell.used}
		if i > 0 {
			report.Comparison = compared[i-1]
			report.Comparison.Changed = nil
		}
		reports = append(reports, report)
	}
	return reports
}

// FinishEvaluationInput ends an evaluation. Items are what its log has in memory.
type FinishEvaluationInput struct {
	EvaluationState
	Error    *knowledge.DocumentError `json:"error,omitempty"`
	Segments int                      `json:"segments,omitempty"`
	Items    []stream.Item            `json:"items"`
}

// FinishEvaluation stores the end of an evaluation and its whole log. It is a local activity.
func (a *Evaluating) FinishEvaluation(ctx context.Context, in FinishEvaluationInput) error {
	if _, err := a.NoteEvaluation(ctx, in.EvaluationState); err != nil {
		return err
	}
	items, err := step.WholeLog(ctx, a.Blobs, in.RunRef, in.Segments, in.Items)
	if err != nil {
		return a.fail(ctx, in.RunRef, err)
	}
	end := record.Ending{Kind: knowledge.KindEvaluate, Error: in.Error, Usage: knowledge.RunUsage{Usage: in.Usage}.Encode()}
	if err := (step.RunEnder{Blobs: a.Blobs, Runs: a.Runs, Hub: a.Hub}).End(ctx, in.RunRef, items, end); err != nil {
		return a.fail(ctx, in.RunRef, err)
	}
	a.Metrics.WorkflowDone("EvaluateProject", string(end.Status()))
	a.Log.InfoContext(ctx, "evaluation ended", "workspace", in.Workspace, "run", in.Run, "status", end.Status())
	return nil
}
