package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/evaluate"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
)

// evaluationView is an evaluation as clients see it.
type evaluationView struct {
	ID          string                       `json:"id"`
	RunID       string                       `json:"run_id" doc:"The same as id: its events show the progress"`
	ProjectID   string                       `json:"project_id"`
	Of          string                       `json:"of,omitempty" doc:"The evaluation whose answers were judged again"`
	TestSetID   string                       `json:"test_set_id"`
	TestSetName string                       `json:"test_set_name" doc:"As it was at the start"`
	Version     int                          `json:"test_set_version"`
	Status      string                       `json:"status" enum:"running,paused,completed,failed,canceled"`
	Progress    knowledge.EvaluationProgress `json:"progress"`
	Judge       string                       `json:"judge" doc:"The name of the model, cairn-offline, or webhook"`
	Repeats     int                          `json:"repeats"`
	Sample      int                          `json:"sample,omitempty"`
	Seed        uint64                       `json:"seed"`
	Override    json.RawMessage              `json:"projectConfigOverride,omitempty"`
	Configured  int                          `json:"configurations" doc:"1, or of an experiment the number of its configurations"`
	Cells       []cellView                   `json:"cells,omitempty" doc:"The configurations of an experiment; not in lists"`
	Budget      knowledge.Budget             `json:"budget,omitzero"`
	Scores      map[string]evaluate.Estimate `json:"scores" doc:"Means with their 95 % intervals, of score, context, faithfulness, ndcg10, recall10, mrr10, latency (seconds) and tokens, as far as they were measured; empty until the evaluation has ended. Of an experiment those of the saved settings"`
	Judged      int                          `json:"judgements" doc:"Judgements that were asked for"`
	Unreadable  int                          `json:"failed_judgements" doc:"Of these, the ones that could not be read. They count in no score"`
	Rubric      *evaluate.Rubric             `json:"rubric,omitempty" doc:"The version of the prompts by which a model judges"`
	Consistency *evaluate.Consistency        `json:"consistency,omitempty" doc:"How often the judge contradicts itself on the same answer, with judge.times"`
	Warnings    []string                     `json:"warnings"`
	Agreement   *evaluate.Agreement          `json:"agreement,omitempty" doc:"How well the judge agrees with people on the score, where people have reviewed answers: of this evaluation, or else of others of the project by the same judge and rubric; not in lists"`
	OnContext   *evaluate.Agreement          `json:"context_agreement,omitempty" doc:"The same on the context"`
	AgreementOf []string                     `json:"agreement_of,omitempty" doc:"The evaluations whose answers people have reviewed for it"`
	Error       *runError                    `json:"error"`
	CreatedAt   time.Time                    `json:"created_at"`
	EndedAt     *time.Time                   `json:"ended_at"`
	OperatorURL string                       `json:"operator_url"`
	EventsURL   string                       `json:"events_url" doc:"The URL of the run's events; needs no key for an hour"`
	Items       []evaluatedView              `json:"items,omitempty" doc:"A page of the items; not in lists"`
	NextCursor  *string                      `json:"next_cursor,omitempty" doc:"The cursor of the next page of items"`
	ToReview    *int                         `json:"to_review,omitempty" doc:"With sampling: the number of items that the caller has not reviewed"`
}

// evaluatedView is an item of an evaluation as clients see it.
type evaluatedView struct {
	testItem
	Number   int                 `json:"number" doc:"The place in the evaluation, 1 = first"`
	Repeat   int                 `json:"repeat" doc:"1 = the first time that the question is asked"`
	Cell     int                 `json:"cell" doc:"The configuration of an experiment, 1 = the saved settings"`
	State    knowledge.ItemState `json:"state" enum:"waiting,answered,judged,failed"`
	RunID    *string             `json:"run_id" doc:"The run that answered it"`
	Answer   *string             `json:"answer"`
	Sources  []source            `json:"sources" doc:"The passages that the model was given"`
	Score    *float64            `json:"score" doc:"0, 1.5 or 2; null if it was not judged"`
	Context  *float64            `json:"context" doc:"0, 1.5 or 2: whether the passages have what an answer needs"`
	Faithful *float64            `json:"faithfulness" doc:"The share of the sentences that their passages support"`

	NDCG10   *float64 `json:"ndcg10"`
	Recall10 *float64 `json:"recall10"`
	MRR10    *float64 `json:"mrr10"`
	Latency  *float64 `json:"latency" doc:"Seconds"`
	Tokens   *float64 `json:"tokens"`

	Reason        string              `json:"reason,omitempty" doc:"Why the judge gave the score"`
	ContextReason string              `json:"context_reason,omitempty"`
	Sentences     []evaluate.Sentence `json:"sentences,omitempty"`
	Failures      []evaluate.Failure  `json:"failures,omitempty" doc:"Judgements that could not be read"`
	Withheld      bool                `json:"withheld,omitempty" doc:"Somebody else started the evaluation, and the answer rests on a document that the caller may not read: the answer and what the judge said of it are left out, and of a question made from documents its words"`
	Error         *runError           `json:"error" doc:"Why there is no answer, or no judgement"`
	Reviews       []reviewView        `json:"reviews"`
}

// view shows an evaluation without its items.
func (er *evaluationRoutes) view(p knowledge.Principal, e store.Evaluation) (evaluationView, error) {
	var settings record.EvaluationSettings
	if err := json.Unmarshal(e.Request, &settings); err != nil {
		return evaluationView{}, fmt.Errorf("decode the settings of evaluation %s: %w", e.ID, err)
	}
	view := evaluationView{
		ID: e.ID, RunID: e.ID, ProjectID: e.Project, Of: settings.Of, TestSetID: e.TestSet, TestSetName: settings.TestSetName, Version: e.Version,
		Status: string(e.Run.Status), Progress: e.Progress, Judge: settings.Judge.Name(), Repeats: settings.Repeats, Sample: settings.Sample,
		Configured: settings.CellCount(), Cells: viewCells(settings.Cells, nil), Seed: settings.Seed, Budget: settings.Budget, Scores: map[string]evaluate.Estimate{}, Warnings: []string{},
		CreatedAt: e.CreatedAt, EndedAt: orNull(e.Run.EndedAt), OperatorURL: er.views.links.OperatorURL(e.Run.WorkflowID), EventsURL: er.views.eventsURL(p, e.ID),
	}
	if settings.Override != "" {
		view.Override = json.RawMessage(settings.Override)
	}
	if e.Run.Status == knowledge.RunRunning && e.Progress.Paused {
		view.Status = "paused"
	}
	if f := e.Run.Error; f != nil {
		view.Error = &runError{Code: f.Code, Message: f.Message}
	}
	if e.Report == nil {
		return view, nil
	}
	var report record.EvaluationReport
	if err := json.Unmarshal(e.Report, &report); err != nil {
		return view, fmt.Errorf("decode the report of evaluation %s: %w", e.ID, err)
	}
	view.Cells = viewCells(settings.Cells, report.Cells)
	for measure, estimate := range report.Scores {
		view.Scores[string(measure)] = estimate
	}
	view.Judged, view.Unreadable, view.Warnings = report.Judged, report.Failed, notNil(report.Warnings)
	view.Consistency = report.Consistency
	if settings.Judge.Model != "" {
		view.Rubric = &report.Rubric
	}
	return view, nil
}

// evaluationQuery asks for an evaluation and some of its items.
type evaluationQuery struct {
	EvaluationPath
	PageQuery
	State    knowledge.ItemState `query:"state" enum:"waiting,answered,judged,failed" doc:"Only items in this state"`
	Sampling evaluate.Sampling   `query:"sampling" enum:"random,low_score,disagreement" doc:"Only judged items that the caller has not reviewed, in this order, as many as limit says and without further pages. disagreement: where people and the judge differ, or the scores of one question"`
	Item     string              `query:"item" maxLength:"128" doc:"Only this item of the test set, in all configurations and repeats"`
	Blind    bool                `query:"blind" doc:"Leave out what the judge and other people said of items that the caller has not reviewed"`
	Cell     int                 `query:"cell" minimum:"1" maximum:"32" doc:"Only items with this configuration of an experiment"`
}

func (er *evaluationRoutes) get(ctx context.Context, p knowledge.Principal, in *evaluationQuery) (*evaluationOutput, error) {
	e, err := er.store.Evaluation(ctx, p, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read evaluation %s: %w", in.ID, err)
	}
	view, err := er.view(p, e)
	if err != nil {
		return nil, err
	}
	items, next, err := er.asked(ctx, p, in, &view)
	if err != nil {
		return nil, fmt.Errorf("read evaluation %s: %w", in.ID, err)
	}
	view.Items, view.NextCursor = make([]evaluatedView, 0, len(items)), orNull(next)
	for _, item := range items {
		shown, err := er.item(ctx, p, e, item)
		if err != nil {
			return nil, err
		}
		if in.Blind {
			shown.hideJudge()
		}
		view.Items = append(view.Items, shown)
	}
	err = er.calibrate(ctx, p, &view)
	return &evaluationOutput{Body: view}, err
}

// asked returns the items that a query asks for, and the cursor of the next ones. It adds to the view how
// many are left to review.
func (er *evaluationRoutes) asked(ctx context.Context, p knowledge.Principal, in *evaluationQuery, view *evaluationView) ([]store.Evaluated, string, error) {
	if in.Sampling == "" {
		return er.store.EvaluationItems(ctx, p, in.ID, store.ItemQuery{State: in.State, Item: in.Item, Cell: in.Cell, Page: store.Page(in.PageQuery)})
	}
	items, err := er.toReview(ctx, p, in.ID, in.Sampling)
	left := len(items)
	view.ToReview = &left
	return items[:min(left, max(1, in.Limit))], "", err
}

// item shows an item with its answer and the passages that the caller may read now.
func (er *evaluationRoutes) item(ctx context.Context, p knowledge.Principal, e store.Evaluation, i store.Evaluated) (evaluatedView, error) {
	view := evaluatedView{Number: i.Number, Repeat: i.Repeat, Cell: i.Cell, State: i.State, RunID: orNull(i.Run), Sources: []source{}, Reviews: convert(i.Reviews, viewReview(p))}
	if err := json.Unmarshal(i.Item, &view.testItem); err != nil {
		return view, fmt.Errorf("decode item %d of evaluation %s: %w", i.Number, e.ID, err)
	}
	if i.Error != nil {
		view.Error = &runError{Code: i.Error.Code, Message: i.Error.Message}
	}
	if i.Result != nil {
		var result record.ItemResult
		if err := json.Unmarshal(i.Result, &result); err != nil {
			return view, fmt.Errorf("decode the result of item %d of evaluation %s: %w", i.Number, e.ID, err)
		}
		view.judged(result)
	}
	if err := er.addAnswer(ctx, p, e, i, &view); err != nil {
		return view, err
	}
	return view, er.withhold(ctx, p, e, &view)
}

// judged adds what a judge said and what was measured.
func (v *evaluatedView) judged(r record.ItemResult) {
	for measure, into := range map[evaluate.Measure]**float64{
		evaluate.MeasureNDCG10: &v.NDCG10, evaluate.MeasureRecall10: &v.Recall10, evaluate.MeasureMRR10: &v.MRR10,
		evaluate.MeasureLatency: &v.Latency, evaluate.MeasureTokens: &v.Tokens,
	} {
		if value, ok := r.Outcome.Values[measure]; ok {
			*into = &value
		}
	}
	j := r.Judgement
	v.Score, v.Context, v.Faithful = j.Score, j.Context, j.Faithfulness
	v.Reason, v.ContextReason, v.Sentences, v.Failures = j.Reason, j.ContextReason, j.Sentences, j.Failures
}

// addAnswer adds the answer to an item, unless it is not there yet or was erased.
func (er *evaluationRoutes) addAnswer(ctx context.Context, p knowledge.Principal, e store.Evaluation, i store.Evaluated, view *evaluatedView) error {
	if i.Run == "" || i.State == knowledge.ItemWaiting {
		return nil
	}
	run := knowledge.RunRef{Workspace: e.Workspace, Project: e.Project, Run: i.Run}
	var out outcome
	switch err := er.blobs.GetJSON(ctx, run.AnswerKey(), &out.record); {
	case errors.Is(err, blob.ErrNotFound):
		return nil
	case err != nil:
		return fmt.Errorf("read the answer to item %d of evaluation %s: %w", i.Number, e.ID, err)
	}
	if err := er.results.readSources(ctx, p, &out); err != nil {
		return fmt.Errorf("read the sources of item %d of evaluation %s: %w", i.Number, e.ID, err)
	}
	view.Answer, view.Sources = &out.record.Answer, er.views.sources(p, &out)
	return nil
}
