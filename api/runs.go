package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
)

// runError is why a run failed.
type runError struct {
	Code    knowledge.Code `json:"code"`
	Message string         `json:"message"`
	RetryAt *time.Time     `json:"retry_at,omitempty" doc:"When the model accepts requests again"`
	Detail  string         `json:"detail,omitempty" doc:"What the endpoint of the model said: status, code, parameter and message, without keys and without words of the question. Only for keys with the scope admin, in the answer for one run"`
}

// runView is a run as clients see it.
type runView struct {
	ID           string              `json:"id"`
	Kind         knowledge.RunKind   `json:"kind" enum:"ingest,remove,query,tool,research,import,reindex,remove_project,evaluate,retention,generate,export,erase"`
	Status       knowledge.RunStatus `json:"status" enum:"running,completed,failed,canceled"`
	WorkflowID   string              `json:"workflow_id"`
	ProjectID    *string             `json:"project_id" doc:"null: every project"`
	DocumentID   *string             `json:"document_id,omitempty" doc:"The document that the run ingests or removes"`
	ImportID     *string             `json:"import_id,omitempty" doc:"The import of the run"`
	EvaluationID *string             `json:"evaluation_id,omitempty" doc:"The evaluation of the run"`
	TestSetID    *string             `json:"test_set_id,omitempty" doc:"The test set that a model makes in the run; it is there when the run has completed"`
	Conversation *string             `json:"conversation_id,omitempty" doc:"The conversation of a question"`
	Person       string              `json:"person,omitempty" doc:"The person of the workspace, or the user of an application, who started the run: for the person itself and keys with the write scope"`
	Question     string              `json:"question,omitempty" doc:"The question that is answered, for its user and the admin scope; not in lists"`
	CreatedAt    time.Time           `json:"created_at"`
	EndedAt      *time.Time          `json:"ended_at"`
	Usage        json.RawMessage     `json:"usage"`
	Progress     json.RawMessage     `json:"progress,omitempty" doc:"For a reindex: matched, started, published, failed, canceled, refused, refusals, paused, documents_per_second, eta_seconds. For a retention: removed, inactive, conversations, runs, kept_by_hold. For a generation of a test set: wanted, planned, written, kept, dropped by the reason"`
	Stage        knowledge.Stage     `json:"stage,omitempty" doc:"The stage of a running ingest, or the stage at which it failed; not in lists"`
	Waiting      *knowledge.Waiting  `json:"waiting,omitempty" doc:"Why a step of the ingest waits for its next attempt, and until when; not in lists"`
	Error        *runError           `json:"error"`
	Result       any                 `json:"result" doc:"The result of a completed run; not in lists. The result of a question is null, except for its user and the admin scope"`
	OperatorURL  string              `json:"operator_url"`
}

type runOutput struct{ Body runView }

// RunPath is the path of a run.
type RunPath struct {
	edge.ActingQuery
	ID string `path:"run_id" maxLength:"200"`
}

// executionTimeout is how long a reader of a run waits for the address of its execution.
const executionTimeout = 2 * time.Second

// runRoutes holds the routes that list, read and cancel runs.
type runRoutes struct {
	store    Store
	dispatch Dispatcher
	readers  *runReaders
	follower *follower
	results  *results
	views    *views
	now      func() time.Time
}

func (r *runRoutes) mount(e *edge.Edge) {
	tags := []string{"runs"}
	const base = "/workspaces/{workspaceId}/runs"
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "list-runs", Method: http.MethodGet, Path: base, Summary: "List runs, newest first", Tags: tags,
	}}, r.listRuns)
	r.mountFeedback(e)
	r.mountSteps(e)
	for prefix, path := range map[string]string{"workspace-": base, "": "/runs"} {
		edge.Handle(e, edge.Route{Operation: huma.Operation{
			OperationID: prefix + "get-run", Method: http.MethodGet, Path: path + "/{run_id}", Summary: "Read a run", Tags: tags,
		}}, r.getRun)
		edge.Handle(e, edge.Route{Operation: huma.Operation{
			OperationID: prefix + "cancel-run", Method: http.MethodPost, Path: path + "/{run_id}/cancel", DefaultStatus: http.StatusAccepted,
			Summary: "Cancel a run", Description: "The run has stopped when its last event says so. The owner of the run and keys with the write scope may cancel it. An accepted removal cannot be canceled (409).", Tags: tags,
		}}, r.cancelRun)
	}
}

func (r *runRoutes) listRuns(ctx context.Context, p knowledge.Principal, in *struct {
	WorkspacePath
	edge.ActingQuery
	PageQuery
	Kind    knowledge.RunKind   `query:"kind" enum:"ingest,remove,query,tool,research,import,reindex,remove_project,evaluate,retention,generate,export,erase"`
	Status  knowledge.RunStatus `query:"status" enum:"running,completed,failed,canceled"`
	Project string              `query:"project_id" maxLength:"200" doc:"The id of a project, or its name. Default: every project that the key covers"`

	Person       string `query:"person" maxLength:"200" doc:"Only runs that this person of the workspace, or this user of an application, started"`
	Conversation string `query:"conversation_id" maxLength:"200" doc:"The id of a conversation: with status=running, the questions in it that are being answered"`
	Document     string `query:"document_id" maxLength:"200" doc:"Only the ingests and removals of this document"`
}) (*listOutput[runView], error) {
	project, err := projectID(ctx, r.store, p, in.Project)
	if err != nil {
		return nil, err
	}
	runs, next, err := r.store.Runs(ctx, p, store.RunQuery{Kind: in.Kind, Status: in.Status, Project: project, Conversation: in.Conversation, Document: in.Document, Person: in.Person, Page: store.Page(in.PageQuery)})
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	return page(convert(runs, func(run store.Run) runView { return r.views.startedRun(p, run) }), next), nil
}

func (r *runRoutes) getRun(ctx context.Context, p knowledge.Principal, in *RunPath) (*runOutput, error) {
	run, err := r.store.Run(ctx, p, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read run %s: %w", in.ID, err)
	}
	view := r.views.startedRun(p, run)
	if view.Error != nil && p.May(knowledge.RunsAdmin) {
		view.Error.Detail = run.Error.Detail
	}
	r.pointToExecution(ctx, run, &view)
	if err := r.addIngestState(ctx, p, run, &view); err != nil {
		return nil, err
	}
	p, err = r.readers.asReader(ctx, p, run)
	if knowledge.IsCode(err, knowledge.CodeForbidden) {
		return &runOutput{view}, nil
	}
	if err == nil {
		view.Question, err = r.question(ctx, run)
	}
	if err == nil {
		view.Result, err = r.runResult(ctx, p, run)
	}
	if err != nil {
		return nil, fmt.Errorf("read the result of run %s: %w", in.ID, err)
	}
	return &runOutput{view}, nil
}

// pointToExecution makes the address for operators that of the execution in Temporal which
// served an ended run, if later runs have workflows of the same id. Without an answer of
// Temporal the address leads to the newest of them.
func (r *runRoutes) pointToExecution(ctx context.Context, run store.Run, view *runView) {
	if !run.Kind.Traits().ReusesID || run.EndedAt.IsZero() || view.OperatorURL == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, executionTimeout)
	defer cancel()
	if execution, err := r.dispatch.Execution(ctx, run.WorkflowID, run.EndedAt); err == nil && execution != "" {
		view.OperatorURL = r.views.links.ExecutionURL(run.WorkflowID, execution)
	}
}

// question returns the question that a run answers, "" if it answers none.
func (r *runRoutes) question(ctx context.Context, run store.Run) (string, error) {
	if !run.Kind.Traits().Answers {
		return "", nil
	}
	var request struct {
		Question string `json:"question"`
	}
	err := r.readers.blobs.GetJSON(ctx, requestKey(run), &request)
	if errors.Is(err, blob.ErrNotFound) { // it was erased
		return "", nil
	}
	return request.Question, err
}

// addIngestState adds the state of the newest version of a document to the run that
// ingests it, or the stage at which that run failed, if p may read the document.
func (r *runRoutes) addIngestState(ctx context.Context, p knowledge.Principal, run store.Run, view *runView) error {
	if run.Kind != knowledge.KindIngest || run.Status != knowledge.RunRunning && run.Status != knowledge.RunFailed {
		return nil
	}
	d, err := r.store.Document(ctx, p, run.Subject)
	if knowledge.IsCode(err, knowledge.CodeNotFound) || knowledge.IsCode(err, knowledge.CodeForbidden) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read document %s: %w", run.Subject, err)
	}
	switch {
	case d.Version != run.Version:
	case run.Status == knowledge.RunRunning:
		view.Stage, view.Waiting = d.Stage, d.Waiting
	case d.Error != nil:
		view.Stage = d.Error.Stage
	}
	return nil
}

// cancelRun asks a run to stop; one that was cancelled already is fine.
func (r *runRoutes) cancelRun(ctx context.Context, p knowledge.Principal, in *RunPath) (*runOutput, error) {
	run, err := r.store.Run(ctx, p, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read run %s: %w", in.ID, err)
	}
	if run.Owner != p.Owner() && !p.Can(knowledge.ScopeWrite) {
		return nil, knowledge.Errorf(knowledge.CodeForbidden, "only the owner of a run, or a key with the write scope, may cancel it")
	}
	switch {
	case !run.Kind.Traits().Cancelable && run.Status == knowledge.RunRunning:
		return nil, knowledge.Errorf(knowledge.CodeConflict, "an accepted removal cannot be canceled")
	case run.Status == knowledge.RunRunning:
		if err := r.stopRun(ctx, p, run); err != nil {
			return nil, fmt.Errorf("cancel run %s: %w", in.ID, err)
		}
		if run, err = r.store.Run(ctx, p, in.ID); err != nil {
			return nil, fmt.Errorf("read run %s: %w", in.ID, err)
		}
	case run.Status == knowledge.RunCanceled:
	default:
		return nil, knowledge.Errorf(knowledge.CodeConflict, "run %q has ended already: it is %s", run.ID, run.Status)
	}
	return &runOutput{r.views.run(run)}, nil
}

// stopRun asks a run's workflow to end it. A question, a research, an import, a reindex, an
// evaluation or a generation that has none, since a process died before, is ended here. A document's ingest that has none is
// started, so that it ends as such ingests do.
func (r *runRoutes) stopRun(ctx context.Context, p knowledge.Principal, run store.Run) error {
	known, err := r.dispatch.CancelRun(ctx, run)
	if known || err != nil {
		return err
	}
	switch run.Kind {
	case knowledge.KindQuery, knowledge.KindTool, knowledge.KindResearch, knowledge.KindImport, knowledge.KindReindex, knowledge.KindEvaluate, knowledge.KindGenerate:
		end := record.Canceled(run.Kind)
		return r.store.EndRun(ctx, run.Workspace, run.ID, end.RunEnd("", r.now()))
	case knowledge.KindIngest:
		v, err := r.store.VersionFor(ctx, p, run.Subject, run.Version)
		if err == nil {
			err = r.dispatch.Ingest(ctx, v)
		}
		if err == nil {
			_, err = r.dispatch.CancelRun(ctx, run)
		}
		return err
	}
	return nil
}

// runResult returns the result of a completed run, as its last event showed it.
func (r *runRoutes) runResult(ctx context.Context, p knowledge.Principal, run store.Run) (any, error) {
	if run.Status != knowledge.RunCompleted {
		return nil, nil
	}
	rendered := &renderer{results: r.results, reading: &reading{principal: p, run: run}}
	switch run.Kind {
	case knowledge.KindQuery, knowledge.KindResearch:
		return rendered.answer(ctx, run.ResultKey)
	case knowledge.KindTool:
		return rendered.toolResult(ctx, run.ResultKey)
	case knowledge.KindRemove, knowledge.KindRemoveProject:
		return nil, nil
	case knowledge.KindImport:
		return r.results.endedImport(ctx, p, run)
	case knowledge.KindReindex:
		return reindexProgress(run)
	case knowledge.KindEvaluate:
		return r.results.endedEvaluation(ctx, p, run)
	case knowledge.KindRetention:
		return retentionProgress(run)
	case knowledge.KindGenerate:
		return generationProgress(run)
	case knowledge.KindExport, knowledge.KindErase:
		return r.results.endedSubject(ctx, p, run)
	}
	last, err := r.follower.lastItem(ctx, runRef(run))
	if err != nil {
		return nil, err
	}
	d, err := r.results.endedDocument(ctx, p, run, last)
	if knowledge.IsCode(err, knowledge.CodeNotFound) {
		return nil, nil // removed
	}
	if err != nil {
		return nil, err
	}
	return r.views.document(d), nil
}
