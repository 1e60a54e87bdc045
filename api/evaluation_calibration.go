package api

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/evaluate"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
)

// The bounds of the other evaluations of a project that tell how well a judge agrees with people.
const (
	calibratedOf = 200 // the newest ones that are looked at
	calibratedBy = 20  // those by the same judge
)

// startAgain starts an evaluation that judges the answers of another one again.
func (er *evaluationRoutes) startAgain(ctx context.Context, p knowledge.Principal, in *evaluationInput) (*evaluationOutput, error) {
	of, err := er.store.Evaluation(ctx, p, in.Body.Of)
	if err != nil {
		return nil, fmt.Errorf("read evaluation %s: %w", in.Body.Of, err)
	}
	if of.Run.Status == knowledge.RunRunning {
		return nil, knowledge.Errorf(knowledge.CodeConflict, "evaluation %q has not ended yet: wait for it, or cancel it", of.ID)
	}
	if of.Progress.Judged == 0 {
		return nil, knowledge.Errorf(knowledge.CodeConflict, "evaluation %q has no answer that was judged", of.ID)
	}
	var settings record.EvaluationSettings
	if err := json.Unmarshal(of.Request, &settings); err != nil {
		return nil, fmt.Errorf("decode the settings of evaluation %s: %w", of.ID, err)
	}
	settings.Of, settings.Judge, settings.Budget = of.ID, in.Body.Judge.judge(), in.Body.Budget
	if err := er.checkJudge(settings.Judge, settings.Budget); err != nil {
		return nil, err
	}
	request, err := json.Marshal(settings)
	if err != nil {
		return nil, fmt.Errorf("encode the settings of an evaluation: %w", err)
	}
	id, _ := edge.RunID(ctx)
	run := knowledge.RunRef{Workspace: p.Workspace(), Project: of.Project, Run: id}
	if _, err := er.blobs.PutJSON(ctx, run.RequestKey(), record.Evaluation{Principal: p, Settings: settings}); err != nil {
		return nil, fmt.Errorf("write the request of evaluation %s: %w", id, err)
	}
	e, err := er.store.StartEvaluation(ctx, p, store.Evaluation{
		ID: id, Project: of.Project, TestSet: of.TestSet, Version: of.Version, Request: request, Items: of.Progress.Judged, CreatedAt: er.now(),
	})
	if err != nil {
		return nil, fmt.Errorf("start evaluation %s: %w", id, err)
	}
	return er.begin(ctx, p, e, settings)
}

// hideJudge leaves out what the judge and other people said of an item that the caller has not
// reviewed.
func (v *evaluatedView) hideJudge() {
	if slices.ContainsFunc(v.Reviews, func(r reviewView) bool { return r.Own }) {
		return
	}
	v.Score, v.Context, v.Faithful, v.Reviews = nil, nil, nil, []reviewView{}
	v.Reason, v.ContextReason, v.Sentences, v.Failures = "", "", nil, nil
}

// reviewedPairs are scores of people, each beside that of the judge.
type reviewedPairs struct{ score, context []evaluate.Pair }

func (r *reviewedPairs) add(more reviewedPairs) {
	r.score, r.context = append(r.score, more.score...), append(r.context, more.context...)
}

func (r *reviewedPairs) none() bool { return len(r.score)+len(r.context) == 0 }

// calibrate adds to an evaluation how well its judge agrees with people: on its own answers, or else
// on those of other evaluations of the project that the same judge has scored by the same rubric.
func (er *evaluationRoutes) calibrate(ctx context.Context, p knowledge.Principal, view *evaluationView) error {
	pairs, err := er.pairs(ctx, p, *view)
	if err != nil {
		return err
	}
	if !pairs.none() {
		view.AgreementOf = []string{view.reviewed()}
	} else if view.EndedAt == nil || view.Judge == webhookJudge { // two programs may be different judges
		return nil
	} else if pairs, view.AgreementOf, err = er.otherPairs(ctx, p, *view); err != nil {
		return err
	}
	view.Agreement, view.OnContext = view.agree("the scores", pairs.score), view.agree("the context scores", pairs.context)
	return nil
}

// agree returns how well the judge agrees with people, nil if nothing was scored by both. It adds a
// warning for each reason why the scores should decide nothing.
func (v *evaluationView) agree(scores string, pairs []evaluate.Pair) *evaluate.Agreement {
	if len(pairs) == 0 {
		return nil
	}
	agreement := evaluate.Agree(pairs)
	for _, reason := range agreement.Against {
		v.Warnings = append(v.Warnings, scores+" of this judge should decide nothing: "+reason)
	}
	return &agreement
}

// reviewed returns the evaluation that has the reviews of the answers.
func (v evaluationView) reviewed() string {
	if v.Of != "" {
		return v.Of
	}
	return v.ID
}

// pairs returns the scores of people, each beside that of the judge of an evaluation.
func (er *evaluationRoutes) pairs(ctx context.Context, p knowledge.Principal, view evaluationView) (pairs reviewedPairs, err error) {
	items, err := er.store.ReviewedItems(ctx, p, view.reviewed())
	if knowledge.IsCode(err, knowledge.CodeNotFound) && view.Of != "" { // it is gone, with its reviews
		return pairs, nil
	}
	if err != nil {
		return pairs, fmt.Errorf("read the reviews of evaluation %s: %w", view.reviewed(), err)
	}
	if len(items) == 0 {
		return pairs, nil
	}
	judged := items
	if view.Of != "" {
		if judged, err = er.store.AllEvaluated(ctx, p, view.ID); err != nil {
			return pairs, fmt.Errorf("read evaluation %s: %w", view.ID, err)
		}
	}
	type place struct {
		item         string
		repeat, cell int
	}
	said := map[place]evaluate.Judgement{}
	for _, i := range judged {
		var result record.ItemResult
		if i.Result == nil {
			continue
		}
		if err := json.Unmarshal(i.Result, &result); err != nil {
			return pairs, fmt.Errorf("decode the result of item %d of evaluation %s: %w", i.Number, view.ID, err)
		}
		said[place{i.ItemID, i.Repeat, i.Cell}] = result.Judgement
	}
	for _, i := range items {
		judge := said[place{i.ItemID, i.Repeat, i.Cell}]
		for _, review := range i.Reviews {
			if judge.Score != nil && review.Score != nil {
				pairs.score = append(pairs.score, evaluate.Pair{Judge: *judge.Score, Person: *review.Score})
			}
			if judge.Context != nil && review.Context != nil {
				pairs.context = append(pairs.context, evaluate.Pair{Judge: *judge.Context, Person: *review.Context})
			}
		}
	}
	return pairs, nil
}

// otherPairs returns the pairs of other evaluations of the project by the same judge and rubric.
func (er *evaluationRoutes) otherPairs(ctx context.Context, p knowledge.Principal, view evaluationView) (pairs reviewedPairs, of []string, err error) {
	list, _, err := er.store.Evaluations(ctx, p, store.EvaluationQuery{Project: view.ProjectID, Page: store.Page{Limit: calibratedOf}})
	if err != nil {
		return pairs, nil, fmt.Errorf("list evaluations: %w", err)
	}
	looked := 0
	for _, e := range list {
		other, err := er.view(p, e)
		if err != nil {
			return pairs, nil, err
		}
		if looked == calibratedBy || other.ID == view.ID || other.Judge != view.Judge || !sameRubric(other.Rubric, view.Rubric) {
			continue
		}
		looked++
		more, err := er.pairs(ctx, p, other)
		if err != nil {
			return pairs, nil, err
		}
		if !more.none() {
			pairs.add(more)
			of = append(of, other.ID)
		}
	}
	return pairs, of, nil
}

// webhookJudge is the name of a judge that is a program.
const webhookJudge = "webhook"

func sameRubric(a, b *evaluate.Rubric) bool {
	return a == nil && b == nil || a != nil && b != nil && a.Hash == b.Hash
}
