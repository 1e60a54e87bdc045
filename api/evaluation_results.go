package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/evaluate"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
)

// TestResults returns the payload of the webhook tests_results for an evaluation. A webhook of the
// project is shown what the starter of the evaluation is shown; it gets no passages. Of an experiment
// it gets the results of the saved settings.
func (a *Answers) TestResults(ctx context.Context, workspace, id string) (any, error) {
	var snapshot record.Evaluation
	run := knowledge.RunRef{Workspace: workspace, Run: id}
	if err := a.results.blobs.GetJSON(ctx, run.RequestKey(), &snapshot); err != nil {
		return nil, fmt.Errorf("read the request of evaluation %s: %w", id, err)
	}
	rows, err := a.results.store.AllEvaluated(ctx, snapshot.Principal, id)
	if err != nil {
		return nil, fmt.Errorf("read evaluation %s: %w", id, err)
	}
	report := evaluate.Report{}
	for _, row := range ofCell(rows, 1) {
		if !row.State.Final() || row.Result == nil {
			continue
		}
		var item evaluate.Item
		if err := json.Unmarshal(row.Item, &item); err != nil {
			return nil, fmt.Errorf("decode item %d: %w", row.Number, err)
		}
		result, err := a.result(ctx, workspace, row)
		if err != nil {
			return nil, err
		}
		if row.Repeat == 1 {
			report.Items = append(report.Items, item)
		}
		report.Results = append(report.Results, result)
	}
	return evaluate.TestResults(report), nil
}

// result returns an item as reports show it.
func (a *Answers) result(ctx context.Context, workspace string, row store.Evaluated) (evaluate.Result, error) {
	var stored record.ItemResult
	if err := json.Unmarshal(row.Result, &stored); err != nil {
		return evaluate.Result{}, fmt.Errorf("decode the result of item %d: %w", row.Number, err)
	}
	result := evaluate.Result{Outcome: stored.Outcome, Judgement: stored.Judgement}
	var answer record.Answer
	err := a.results.blobs.GetJSON(ctx, knowledge.RunRef{Workspace: workspace, Run: row.Run}.AnswerKey(), &answer)
	if err != nil && !errors.Is(err, blob.ErrNotFound) {
		return result, fmt.Errorf("read the answer to item %d: %w", row.Number, err)
	}
	result.Answer = answer.Answer
	return result, nil
}

// endedEvaluation returns how far an evaluation came that has ended.
func (r *results) endedEvaluation(ctx context.Context, p knowledge.Principal, run store.Run) (knowledge.EvaluationProgress, error) {
	e, err := r.store.Evaluation(ctx, p, run.Subject)
	if err != nil {
		return knowledge.EvaluationProgress{}, fmt.Errorf("read evaluation %s: %w", run.Subject, err)
	}
	return e.Progress, nil
}
