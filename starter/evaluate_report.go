package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/evaluate"
	"github.com/cairn-rag/cairn/internal/knowledge"
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

// comparison is what the server says of two evaluations.
type comparison struct {
	evaluate.Comparison
	Warnings []string `json:"warnings"` // why the two may not be comparable
}

// compareEvaluations compares an evaluation with a baseline, by cells of experiments or 0.
func compareEvaluations(ctx context.Context, c *client.Client, baseline, candidate string, cell, candidateCell int) (*comparison, error) {
	answer, err := c.CompareEvaluations(ctx, baseline, candidate, cell, candidateCell)
	if err != nil {
		return nil, err
	}
	var compared comparison
	if err := json.Unmarshal(answer, &compared); err != nil {
		return nil, fmt.Errorf("decode the comparison: %w", err)
	}
	return &compared, nil
}

// reportOf returns an evaluation as reports show it. items may be nil.
func reportOf(e client.Evaluation, items []evaluate.Item) (evaluate.Report, error) {
	report := evaluate.Report{Name: e.TestSetName, Project: e.ProjectID, Judge: e.Judge, Summary: evaluate.Summary{
		Scores: map[evaluate.Measure]evaluate.Estimate{}, Judged: e.Judgements, Failed: e.Unreadable, Errors: e.Progress.Failed, Repeats: e.Repeats, Warnings: e.Warnings,
	}}
	if e.Status != string(knowledge.RunCompleted) {
		report.Incomplete = "the evaluation is " + e.Status
	}
	if e.Error != nil {
		report.Incomplete = string(e.Error.Code) + ": " + e.Error.Message
	}
	for field, raw := range map[any]json.RawMessage{&report.Rubric: e.Rubric, &report.Agreement: e.Agreement, &report.OnContext: e.OnContext, &report.Consistency: e.Consistency} {
		if len(raw) == 0 {
			continue
		}
		if err := json.Unmarshal(raw, field); err != nil {
			return report, fmt.Errorf("decode evaluation %s: %w", e.ID, err)
		}
	}
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
	return report, nil
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
