package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/evaluate"
)

// wholeEvaluation reads an evaluation with all its items.
func wholeEvaluation(ctx context.Context, c *client.Client, id string) (client.Evaluation, error) {
	var whole client.Evaluation
	items, err := pages(0, func(cursor string, limit int) (client.List[client.EvaluatedItem], error) {
		e, err := c.Evaluation(ctx, id, cursor, limit)
		whole = e
		return client.List[client.EvaluatedItem]{Data: e.Items, NextCursor: e.NextCursor}, err
	})
	whole.Items, whole.NextCursor = items, ""
	return whole, err
}

// comparison compares an evaluation with a baseline, by cells of experiments or 0.
func comparison(ctx context.Context, c *client.Client, baseline, candidate string, cell, candidateCell int) (*evaluate.Comparison, error) {
	answer, err := c.CompareEvaluations(ctx, baseline, candidate, cell, candidateCell)
	if err != nil {
		return nil, err
	}
	var compared evaluate.Comparison
	if err := json.Unmarshal(answer, &compared); err != nil {
		return nil, fmt.Errorf("decode the comparison: %w", err)
	}
	return &compared, nil
}

// reportOf returns an evaluation as reports show it. items may be nil.
func reportOf(e client.Evaluation, items []evaluate.Item) evaluate.Report {
	report := evaluate.Report{Name: e.TestSetName, Project: e.ProjectID, Judge: e.Judge, Summary: evaluate.Summary{
		Scores: map[evaluate.Measure]evaluate.Estimate{}, Judged: e.Judgements, Failed: e.Unreadable, Errors: e.Progress.Failed, Repeats: e.Repeats, Warnings: e.Warnings,
	}}
	for measure, estimate := range e.Scores {
		report.Summary.Scores[evaluate.Measure(measure)] = evaluate.Estimate(estimate)
	}
	known := map[string]evaluate.Item{}
	for _, item := range items {
		known[item.ID] = item
	}
	for _, i := range e.Items {
		if i.Cell > 1 { // a report is of the saved settings
			continue
		}
		if i.Repeat == 1 {
			item, there := known[i.ID]
			if !there {
				item = evaluate.Item{ID: i.ID, Question: i.Question, Reference: i.Reference, Tags: i.Tags}
			}
			report.Items = append(report.Items, item)
		}
		if i.State == "judged" || i.State == "failed" {
			report.Results = append(report.Results, resultOf(i))
		}
	}
	report.Summary.Items = len(report.Items)
	return report
}

// resultOf returns an item as reports show it.
func resultOf(i client.EvaluatedItem) evaluate.Result {
	result := evaluate.Result{Answer: i.Answer, Outcome: evaluate.Outcome{Item: i.ID, Repeat: i.Repeat - 1, Values: map[evaluate.Measure]float64{}}}
	for measure, value := range map[evaluate.Measure]*float64{
		evaluate.MeasureScore: i.Score, evaluate.MeasureContext: i.Context, evaluate.MeasureFaithfulness: i.Faithfulness,
		evaluate.MeasureNDCG10: i.NDCG10, evaluate.MeasureRecall10: i.Recall10, evaluate.MeasureMRR10: i.MRR10,
		evaluate.MeasureLatency: i.Latency, evaluate.MeasureTokens: i.Tokens,
	} {
		if value != nil {
			result.Outcome.Values[measure] = *value
		}
	}
	result.Judgement = evaluate.Judgement{Score: i.Score, Context: i.Context, Faithfulness: i.Faithfulness, Reason: i.Reason, ContextReason: i.ContextReason}
	for _, f := range i.Failures {
		result.Judgement.Failures = append(result.Judgement.Failures, evaluate.Failure{Part: evaluate.Part(f.Part), Reason: f.Reason})
		result.Outcome.Failed = append(result.Outcome.Failed, evaluate.Part(f.Part))
	}
	if i.Error != nil {
		result.Outcome.Error = i.Error.Message
	}
	return result
}

type evaluateCalibrateCmd struct {
	clientFlags
	ID string `arg:"" help:"The evaluation, whose answers people have reviewed."`
}

// Help returns the command's example.
func (evaluateCalibrateCmd) Help() string {
	return "People review answers in the console, or with POST evaluations/{id}/items/{item}/review. Kappa is Cohen's with quadratic weights; below 0.4 the judge should not gate.\n\nExample:\n\n" +
		"    cairn evaluate calibrate 1f0c6f0e-52a5-4a0e-9f6b-3d1c8a7e2b11"
}

// Run shows the agreement of a judge with people.
func (k evaluateCalibrateCmd) Run(ctx context.Context, a *app) error {
	c, err := k.connectEvaluation(ctx, &k.ID)
	if err != nil {
		return err
	}
	e, err := c.Evaluation(ctx, k.ID, "", 1)
	if err != nil {
		return err
	}
	if len(e.Agreement) == 0 {
		return fmt.Errorf("no answer of evaluation %s has been scored by a person", k.ID)
	}
	var agreement evaluate.Agreement
	if err := json.Unmarshal(e.Agreement, &agreement); err != nil {
		return fmt.Errorf("decode the agreement of evaluation %s: %w", k.ID, err)
	}
	if k.forPrograms() {
		return k.write(a, agreement)
	}
	fmt.Fprintf(a.stdout, "judge      %s\nreviews    %d\nkappa      %.2f (%.2f to %.2f)\nagreement  %.2f (always the most frequent score: %.2f)\nbias       %+.2f (%+.2f to %+.2f), judge minus person\n",
		e.Judge, agreement.N, agreement.Kappa.Mean, agreement.Kappa.Low, agreement.Kappa.High, agreement.Raw, agreement.Guessing, agreement.Bias.Mean, agreement.Bias.Low, agreement.Bias.High)
	for _, warning := range agreement.Warnings {
		fmt.Fprintln(a.stdout, "warning:", warning)
	}
	return nil
}
