package api

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/cairn-rag/cairn/internal/evaluate"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
)

// comparisonView is a comparison of two evaluations.
type comparisonView struct {
	Baseline  string `json:"baseline" doc:"The evaluation that is named first"`
	Candidate string `json:"candidate"`
	evaluate.Comparison
	Questions map[string]string `json:"questions" doc:"The questions of the items that changed, by the ids of the items"`
	Warnings  []string          `json:"warnings" doc:"Why the two may not be comparable"`
}

type comparisonOutput struct{ Body comparisonView }

func (er *evaluationRoutes) compare(ctx context.Context, p knowledge.Principal, in *struct {
	EvaluationPath
	Candidate string `path:"candidate" maxLength:"64" doc:"The evaluation that is compared with the first"`
	Cell      int    `query:"cell" minimum:"1" maximum:"32" doc:"The configuration of the evaluation, if it is an experiment. Default: 1, the saved settings"`
	Other     int    `query:"candidate_cell" minimum:"1" maximum:"32" doc:"The same of the candidate, which may be the same evaluation. Default: 1"`
}) (*comparisonOutput, error) {
	var sides [2]compared
	for i, asked := range []struct {
		id   string
		cell int
	}{{in.ID, in.Cell}, {in.Candidate, in.Other}} {
		var err error
		if sides[i], err = er.compared(ctx, p, asked.id, max(1, asked.cell)); err != nil {
			return nil, err
		}
	}
	baseline, candidate := sides[0], sides[1]
	out := comparisonView{Baseline: in.ID, Candidate: in.Candidate, Comparison: evaluate.Compare(baseline.outcomes, candidate.outcomes), Questions: map[string]string{}, Warnings: []string{}}
	out.Differences, out.Changed = notNil(out.Differences), notNil(out.Changed)
	for _, change := range out.Changed {
		out.Questions[change.Item] = candidate.questions[change.Item]
	}
	warn := func(unequal bool, text string) {
		if unequal {
			out.Warnings = append(out.Warnings, text)
		}
	}
	warn(baseline.Judge != candidate.Judge, "different judges scored the two: "+baseline.Judge+" and "+candidate.Judge)
	warn(baseline.Judge == candidate.Judge && baseline.Rubric != nil && candidate.Rubric != nil && baseline.Rubric.Hash != candidate.Rubric.Hash, "the two were judged by different rubrics")
	warn(baseline.TestSetID == candidate.TestSetID && baseline.Version != candidate.Version, "the test set has changed between the two; items are paired by their ids")
	warn(baseline.TestSetID != candidate.TestSetID, "the two have different test sets; items are paired by their ids")
	return &comparisonOutput{out}, nil
}

// compared is one side of a comparison.
type compared struct {
	evaluationView
	outcomes  []evaluate.Outcome
	questions map[string]string // by the ids of their items
}

// compared returns a configuration of an evaluation that has ended.
func (er *evaluationRoutes) compared(ctx context.Context, p knowledge.Principal, id string, cell int) (side compared, err error) {
	e, err := er.store.Evaluation(ctx, p, id)
	if err != nil {
		return side, fmt.Errorf("read evaluation %s: %w", id, err)
	}
	if side.evaluationView, err = er.view(p, e); err != nil {
		return side, err
	}
	if e.Run.Status == knowledge.RunRunning {
		return side, knowledge.Errorf(knowledge.CodeConflict, "evaluation %q has not ended yet: wait for it, or cancel it", id)
	}
	if cell > side.Configured {
		return side, knowledge.Errorf(knowledge.CodeNotFound, "evaluation %q has no configuration %d", id, cell)
	}
	items, err := er.store.AllEvaluated(ctx, p, id)
	if err != nil {
		return side, fmt.Errorf("read evaluation %s: %w", id, err)
	}
	items = ofCell(items, cell)
	side.questions = map[string]string{}
	for _, i := range items {
		var asked testItem
		if err := json.Unmarshal(i.Item, &asked); err != nil {
			return side, fmt.Errorf("decode item %d of evaluation %s: %w", i.Number, id, err)
		}
		side.questions[i.ItemID] = asked.Question
	}
	side.outcomes, err = outcomesOf(items)
	return side, err
}

// outcomesOf returns the outcomes of the items that have ended.
func outcomesOf(items []store.Evaluated) ([]evaluate.Outcome, error) {
	outcomes := make([]evaluate.Outcome, 0, len(items))
	for _, i := range items {
		if !i.State.Final() || i.Result == nil {
			continue
		}
		var result record.ItemResult
		if err := json.Unmarshal(i.Result, &result); err != nil {
			return nil, fmt.Errorf("decode the result of item %d: %w", i.Number, err)
		}
		outcomes = append(outcomes, result.Outcome)
	}
	return outcomes, nil
}
