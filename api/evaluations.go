package api

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/evaluate"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/question"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
)

// The bounds of an evaluation.
const (
	maxRepeats = 10
	maxAsked   = 50_000 // items, each as often as it is repeated, in all configurations
)

// judgeBody says who judges.
type judgeBody struct {
	Model   string `json:"model,omitempty" maxLength:"200" doc:"The chat model that judges. Default: cairn-offline, which compares words, numbers and negations and needs no model"`
	Webhook *struct {
		URL string `json:"url" minLength:"1" maxLength:"2000" doc:"http or https. A program there is sent each item with its answer and passages, signed with the project's callbackSecret, and answers {score, context, faithfulness, reason}"`
	} `json:"webhook,omitempty" doc:"In place of a model"`
	Times int `json:"times,omitempty" minimum:"1" maximum:"10" doc:"How often a model scores each of the first 50 answers, each time anew. One that gives more than 10 % of them different grades cannot gate. Default: 1"`
}

// judge returns the judge that a body names.
func (b judgeBody) judge() record.Judge {
	judge := record.Judge{Model: b.Model, Times: b.Times}
	if b.Model == evaluate.OfflineJudge {
		judge.Model = ""
	}
	if b.Webhook != nil {
		judge.Webhook = &record.JudgeWebhook{URL: b.Webhook.URL}
	}
	return judge
}

type evaluationInput struct {
	WorkspacePath
	Body struct {
		TestSetID string `json:"test_set_id,omitempty" maxLength:"64"`
		Of        string `json:"of,omitempty" maxLength:"64" doc:"An evaluation that has ended, in place of a test set: its answers are judged again, by judge, and no question is asked. Project, questions, override and repeats are its own"`
		Version   int    `json:"test_set_version,omitempty" minimum:"1" doc:"Default: the newest"`
		ProjectID string `json:"project_id,omitempty" maxLength:"200" doc:"The project that answers, by its id or its name. Default: the project of the test set"`

		Override changeOf[knowledge.ProjectConfig] `json:"projectConfigOverride,omitempty" doc:"Settings of the project to override for this evaluation, as in POST /query"`

		Grid map[string][]any `json:"grid,omitempty" maxProperties:"8" example:"{\"ai.retrieval.strategy\": [\"hybrid\", \"dense\"]}" doc:"Makes the evaluation an experiment: lists of values by the dotted names of settings, such as ai.retrieval.strategy, where ai. and ai.retrieval. may be left out. The questions are asked with the saved settings and with each combination, at most 32 configurations in all. A combination that is the saved settings is not asked twice"`

		Judge   judgeBody        `json:"judge,omitzero"`
		Repeats int              `json:"repeats,omitempty" minimum:"1" maximum:"10" doc:"How often each question is asked. Default: 1"`
		Sample  int              `json:"sample,omitempty" minimum:"1" doc:"Ask only so many of the questions, chosen by the seed. Default: all"`
		Seed    uint64           `json:"seed,omitempty" doc:"Chooses the sample. Default: 1"`
		Budget  knowledge.Budget `json:"budget,omitzero" doc:"No further question is asked when it is used up; the evaluation then ends with limit_reached and measures what was judged. Questions that are being answered are finished"`
	}
}

// EvaluationPath is the path of an evaluation.
type EvaluationPath struct {
	WorkspacePath
	ID string `path:"evaluation" maxLength:"64" doc:"The evaluation"`
}

type evaluationOutput struct {
	Run  string `header:"Cairn-Run-Id"`
	Body evaluationView
}

// evaluationRoutes holds the routes of evaluations.
type evaluationRoutes struct {
	edge      *edge.Edge
	store     Store
	blobs     Blobs
	questions *question.Starter
	dispatch  Dispatcher
	addresses Addresses
	runs      *runRoutes
	results   *results
	views     *views
	log       *slog.Logger
	now       func() time.Time
}

func (er *evaluationRoutes) mount(e *edge.Edge) {
	const path = "/workspaces/{workspaceId}/evaluations"
	route := taggedWithStatus("evaluations")
	start := route("start-evaluation", http.MethodPost, path, "Evaluate a project with a test set",
		"Each question is answered as one of /query is, without a conversation, and its answer is judged. The list of runs leaves these answers out, and their usage is that of the evaluation.", http.StatusAccepted)
	start.Anew = true
	edge.Handle(e, start, er.start)
	edge.Handle(e, route("list-evaluations", http.MethodGet, path, "List evaluations, newest first", "One's own and, with the write scope, all of the project.", 0), er.list)
	edge.Handle(e, route("get-evaluation", http.MethodGet, path+"/{evaluation}", "Read an evaluation and a page of its items",
		"The scores have a mean and its 95 % interval over the items. Passages that the caller may no longer read are left out.", 0), er.get)
	for _, way := range []struct{ name, summary, description string }{
		{"pause", "Pause an evaluation", "Questions that are being answered are finished; no further one is asked."},
		{"resume", "Resume an evaluation", ""},
		{"cancel", "Cancel an evaluation", "What was judged before is measured."},
	} {
		edge.Handle(e, route(way.name+"-evaluation", http.MethodPost, path+"/{evaluation}/"+way.name, way.summary, way.description, http.StatusAccepted),
			func(ctx context.Context, p knowledge.Principal, in *EvaluationPath) (*evaluationOutput, error) {
				return er.control(ctx, p, in.ID, way.name)
			})
	}
	edge.Handle(e, route("review-evaluation-item", http.MethodPost, path+"/{evaluation}/items/{item}/review", "Score an answer as a person",
		"The score stands beside that of the judge, and the evaluation shows how well the two agree. A later review by the same person replaces the earlier one.", 0), er.review)
	edge.Handle(e, route("compare-evaluations", http.MethodGet, path+"/{evaluation}/compare/{candidate}", "Compare two evaluations",
		"The differences are candidate minus evaluation, paired by the items that both have, each with its 95 % interval. Of experiments, one configuration of each is compared.", 0), er.compare)
}

func (er *evaluationRoutes) start(ctx context.Context, p knowledge.Principal, in *evaluationInput) (*evaluationOutput, error) {
	switch {
	case in.Body.Of != "" && in.Body.TestSetID != "":
		return nil, knowledge.Invalid("body.of", "stands in place of test_set_id: name one of them")
	case in.Body.Of != "":
		return er.startAgain(ctx, p, in)
	case in.Body.TestSetID == "":
		return nil, knowledge.Invalid("body.test_set_id", "is needed")
	}
	set, items, err := er.items(ctx, p, in)
	if err != nil {
		return nil, err
	}
	if in.Body.ProjectID == "" {
		in.Body.ProjectID = set.Project
	}
	settings, err := er.settings(in, set)
	if err != nil {
		return nil, err
	}
	project, template, err := er.questions.Evaluated(ctx, p, in.Body.ProjectID, json.RawMessage(in.Body.Override))
	if err != nil {
		return nil, err
	}
	id, _ := edge.RunID(ctx)
	snapshot := record.Evaluation{Principal: p, Question: template, Settings: settings}
	if err := er.addCells(ctx, p, in, &snapshot); err != nil {
		return nil, err
	}
	if err := checkAsked(len(items), snapshot.Settings); err != nil {
		return nil, err
	}
	e, err := er.record(ctx, p, knowledge.RunRef{Workspace: p.Workspace(), Project: project.ID, Run: id}, set, snapshot, items)
	if err != nil {
		return nil, err
	}
	return er.begin(ctx, p, e, settings)
}

// begin starts the workflow of an evaluation that is on record.
func (er *evaluationRoutes) begin(ctx context.Context, p knowledge.Principal, e store.Evaluation, settings record.EvaluationSettings) (*evaluationOutput, error) {
	if e.Run.Status == knowledge.RunRunning {
		if err := er.dispatch.Evaluate(ctx, e.Run, settings); err != nil { // the sweep repeats it
			er.log.WarnContext(ctx, "evaluation starts later", "workspace", e.Workspace, "run", e.ID, "error", err)
		}
	}
	view, err := er.view(p, e)
	return &evaluationOutput{e.ID, view}, err
}

// items returns the test set and its questions that an evaluation asks.
func (er *evaluationRoutes) items(ctx context.Context, p knowledge.Principal, in *evaluationInput) (set store.TestSet, items []evaluate.Item, err error) {
	if set, err = er.store.TestSet(ctx, p, in.Body.TestSetID); err != nil {
		return set, nil, fmt.Errorf("read test set %s: %w", in.Body.TestSetID, err)
	}
	if in.Body.Version > 0 {
		set.Version = in.Body.Version
	}
	stored, err := er.store.TestSetItems(ctx, p, set.ID, set.Version)
	if err != nil {
		return set, nil, fmt.Errorf("read test set %s: %w", set.ID, err)
	}
	if err := json.Unmarshal(stored.Items, &items); err != nil {
		return set, nil, fmt.Errorf("decode test set %s: %w", set.ID, err)
	}
	in.Body.Repeats, in.Body.Seed = max(in.Body.Repeats, 1), max(in.Body.Seed, 1)
	return set, evaluate.Sample(items, in.Body.Sample, in.Body.Seed), nil
}

// checkAsked refuses an evaluation of too many questions.
func checkAsked(items int, settings record.EvaluationSettings) error {
	if asked := items * settings.Repeats * settings.CellCount(); asked > maxAsked {
		return knowledge.Invalid("body.repeats", "would ask %d questions, and %d is the most: ask a sample, with fewer configurations or repeats", asked, maxAsked)
	}
	return nil
}

// settings returns how an evaluation is done, which is checked.
func (er *evaluationRoutes) settings(in *evaluationInput, set store.TestSet) (record.EvaluationSettings, error) {
	b := in.Body
	judge := b.Judge.judge()
	settings := record.EvaluationSettings{
		TestSetName: set.Name, Override: string(b.Override), Judge: judge, Repeats: b.Repeats, Sample: b.Sample, Seed: b.Seed, Budget: b.Budget,
	}
	return settings, er.checkJudge(judge, b.Budget)
}

// checkJudge refuses a judge that cannot judge, and a budget that is none.
func (er *evaluationRoutes) checkJudge(judge record.Judge, budget knowledge.Budget) error {
	switch {
	case judge.Times > 1 && judge.Model == "":
		return knowledge.Invalid("body.judge.times", "is for a model: cairn-offline always gives the same answer the same score, and a program is asked once")
	case judge.Webhook != nil && judge.Model != "":
		return knowledge.Invalid("body.judge", "must have a model or a webhook, not both")
	case judge.Webhook != nil:
		if err := er.addresses.CheckURL(judge.Webhook.URL); err != nil {
			return knowledge.Invalid("body.judge.webhook.url", "%s", knowledge.AsError(err).Message)
		}
	}
	if budget.Cost < 0 {
		return knowledge.Invalid("body.budget.cost", "must not be negative")
	}
	return knowledge.InvalidFields(er.questions.JudgeFields("body.judge.model", judge.Model))
}

// record stores the snapshot of an evaluation and its questions, and then its rows.
func (er *evaluationRoutes) record(ctx context.Context, p knowledge.Principal, run knowledge.RunRef, set store.TestSet, snapshot record.Evaluation, items []evaluate.Item) (e store.Evaluation, err error) {
	request, err := json.Marshal(snapshot.Settings)
	if err != nil {
		return e, fmt.Errorf("encode the settings of evaluation %s: %w", run.Run, err)
	}
	if _, err := er.blobs.PutJSON(ctx, record.EvaluationItemsKey(run), items); err != nil {
		return e, fmt.Errorf("write the items of evaluation %s: %w", run.Run, err)
	}
	if _, err := er.blobs.PutJSON(ctx, run.RequestKey(), snapshot); err != nil {
		return e, fmt.Errorf("write the request of evaluation %s: %w", run.Run, err)
	}
	e, err = er.store.StartEvaluation(ctx, p, store.Evaluation{
		ID: run.Run, Project: run.Project, TestSet: set.ID, Version: set.Version, Request: request, Items: len(items) * snapshot.Settings.Repeats * snapshot.Settings.CellCount(), CreatedAt: er.now(),
	})
	if err != nil {
		return e, fmt.Errorf("start evaluation %s: %w", run.Run, err)
	}
	return e, nil
}

func (er *evaluationRoutes) list(ctx context.Context, p knowledge.Principal, in *struct {
	WorkspacePath
	PageQuery
	Project string `query:"project_id" maxLength:"200" doc:"The id of a project, or its name. Default: every project that the key covers"`
	TestSet string `query:"test_set_id" maxLength:"64" doc:"Only evaluations by this test set"`
}) (*listOutput[evaluationView], error) {
	project, err := projectID(ctx, er.store, p, in.Project)
	if err != nil {
		return nil, err
	}
	list, next, err := er.store.Evaluations(ctx, p, store.EvaluationQuery{Project: project, TestSet: in.TestSet, Page: store.Page(in.PageQuery)})
	if err != nil {
		return nil, fmt.Errorf("list evaluations: %w", err)
	}
	shown := make([]evaluationView, 0, len(list))
	for _, e := range list {
		view, err := er.view(p, e)
		if err != nil {
			return nil, err
		}
		view.Cells = nil
		shown = append(shown, view)
	}
	return page(shown, next), nil
}

// control pauses, resumes or cancels an evaluation.
func (er *evaluationRoutes) control(ctx context.Context, p knowledge.Principal, id, way string) (*evaluationOutput, error) {
	e, err := er.store.Evaluation(ctx, p, id)
	if err != nil {
		return nil, fmt.Errorf("read evaluation %s: %w", id, err)
	}
	if way == "cancel" {
		_, err = er.runs.cancelRun(ctx, p, &RunPath{ID: id})
	} else {
		err = er.pause(ctx, e, way == "pause")
	}
	if err == nil {
		e, err = er.store.Evaluation(ctx, p, id)
	}
	if err != nil {
		return nil, fmt.Errorf("%s evaluation %s: %w", way, id, err)
	}
	if e.Run.Status == knowledge.RunRunning && way != "cancel" {
		e.Progress.Paused = way == "pause" // as it is a moment later
	}
	view, err := er.view(p, e)
	return &evaluationOutput{Body: view}, err
}

// pause asks an evaluation to pause, or to resume. One that has no workflow yet is started first.
func (er *evaluationRoutes) pause(ctx context.Context, e store.Evaluation, paused bool) error {
	if e.Run.Status != knowledge.RunRunning {
		return knowledge.Errorf(knowledge.CodeConflict, "evaluation %q has ended already: it is %s", e.ID, e.Run.Status)
	}
	known, err := er.dispatch.PauseEvaluation(ctx, e.Run, paused)
	if err != nil || known {
		return err
	}
	var settings record.EvaluationSettings
	if err := json.Unmarshal(e.Request, &settings); err != nil {
		return fmt.Errorf("decode the settings of evaluation %s: %w", e.ID, err)
	}
	if err := er.dispatch.Evaluate(ctx, e.Run, settings); err != nil {
		return err
	}
	_, err = er.dispatch.PauseEvaluation(ctx, e.Run, paused)
	return err
}
