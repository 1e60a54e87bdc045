package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
)

// runError is why a run failed.
type runError struct {
	Code    knowledge.Code `json:"code"`
	Message string         `json:"message"`
	RetryAt *time.Time     `json:"retry_at,omitempty" doc:"When a model that limits requests takes the next one"`
}

// runView is a run as clients see it.
type runView struct {
	ID          string              `json:"id"`
	Kind        knowledge.RunKind   `json:"kind" enum:"ingest,remove,query,tool,research,import,reindex,remove_project"`
	Status      knowledge.RunStatus `json:"status" enum:"running,completed,failed,canceled"`
	WorkflowID  string              `json:"workflow_id"`
	ProjectID   *string             `json:"project_id" doc:"null: every project"`
	DocumentID  *string             `json:"document_id,omitempty" doc:"That is ingested or removed"`
	ImportID    *string             `json:"import_id,omitempty" doc:"That is run"`
	CreatedAt   time.Time           `json:"created_at"`
	EndedAt     *time.Time          `json:"ended_at"`
	Usage       json.RawMessage     `json:"usage"`
	Progress    json.RawMessage     `json:"progress,omitempty" doc:"Of a reindex: matched, started, published, failed, canceled, refused, refusals, paused, documents_per_second, eta_seconds"`
	Stage       knowledge.Stage     `json:"stage,omitempty" doc:"Of a document's ingest that runs, or at which its newest one failed; not in lists"`
	Waiting     *knowledge.Waiting  `json:"waiting,omitempty" doc:"Why a step of that ingest waits for its next try, and until when; not in lists"`
	Error       *runError           `json:"error"`
	Result      any                 `json:"result" doc:"Of a run that completed; not in lists. That of a question is null but for the user who asked and for the admin scope"`
	OperatorURL string              `json:"operator_url"`
}

type runOutput struct{ Body runView }

type runPath struct {
	edge.ActingQuery
	ID string `path:"run_id" maxLength:"200"`
}

func (s *Server) registerRuns() {
	tags := []string{"runs"}
	const own = "/workspaces/{workspaceId}/runs"
	edge.Handle(s.edge, edge.Route{Scope: knowledge.ScopeRead, Operation: huma.Operation{
		OperationID: "list-runs", Method: http.MethodGet, Path: own, Summary: "List runs, newest first", Tags: tags,
	}}, s.listRuns)
	for prefix, path := range map[string]string{"workspace-": own, "": "/runs"} {
		edge.Handle(s.edge, edge.Route{Scope: knowledge.ScopeRead, Operation: huma.Operation{
			OperationID: prefix + "get-run", Method: http.MethodGet, Path: path + "/{run_id}", Summary: "Read a run", Tags: tags,
		}}, s.getRun)
		edge.Handle(s.edge, edge.Route{Scope: knowledge.ScopeRead, Operation: huma.Operation{
			OperationID: prefix + "cancel-run", Method: http.MethodPost, Path: path + "/{run_id}/cancel", DefaultStatus: http.StatusAccepted,
			Summary: "Ask a run to stop", Description: "The last event of the run shows that it stopped. The owner of the run may ask, and a key with the write scope. An accepted removal cannot be canceled: 409.", Tags: tags,
		}}, s.cancelRun)
	}
}

func (s *Server) listRuns(ctx context.Context, p knowledge.Principal, in *struct {
	WorkspacePath
	edge.ActingQuery
	PageQuery
	Kind    knowledge.RunKind   `query:"kind" enum:"ingest,remove,query,tool,research,import,reindex,remove_project"`
	Status  knowledge.RunStatus `query:"status" enum:"running,completed,failed,canceled"`
	Project string              `query:"project_id" maxLength:"200" doc:"The id of a project, or its name. Default: every project that the key covers"`
}) (*listed[runView], error) {
	project, err := s.projectID(ctx, p, in.Project)
	if err != nil {
		return nil, err
	}
	runs, next, err := s.deps.Store.Runs(ctx, p, store.RunQuery{Kind: in.Kind, Status: in.Status, Project: project, Page: store.Page(in.PageQuery)})
	if err != nil {
		return nil, fmt.Errorf("list runs: %w", err)
	}
	return page(convert(runs, s.viewRun), next), nil
}

func (s *Server) getRun(ctx context.Context, p knowledge.Principal, in *runPath) (*runOutput, error) {
	run, err := s.deps.Store.Run(ctx, p, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read run %s: %w", in.ID, err)
	}
	view := s.viewRun(run)
	if err := s.addIngestState(ctx, p, run, &view); err != nil {
		return nil, err
	}
	p, err = s.runReader(ctx, p, run)
	if knowledge.IsCode(err, knowledge.CodeForbidden) {
		return &runOutput{view}, nil
	}
	if err == nil {
		view.Result, err = s.runResult(ctx, p, run)
	}
	if err != nil {
		return nil, fmt.Errorf("read the result of run %s: %w", in.ID, err)
	}
	return &runOutput{view}, nil
}

// addIngestState adds the state of the newest version of a document to the run that
// ingests it, or the stage at which that run failed, if p may read the document.
func (s *Server) addIngestState(ctx context.Context, p knowledge.Principal, run store.Run, view *runView) error {
	if run.Kind != knowledge.KindIngest || run.Status != knowledge.RunRunning && run.Status != knowledge.RunFailed {
		return nil
	}
	d, err := s.deps.Store.Document(ctx, p, run.Subject)
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
func (s *Server) cancelRun(ctx context.Context, p knowledge.Principal, in *runPath) (*runOutput, error) {
	run, err := s.deps.Store.Run(ctx, p, in.ID)
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
		if err := s.stopRun(ctx, p, run); err != nil {
			return nil, fmt.Errorf("cancel run %s: %w", in.ID, err)
		}
		if run, err = s.deps.Store.Run(ctx, p, in.ID); err != nil {
			return nil, fmt.Errorf("read run %s: %w", in.ID, err)
		}
	case run.Status == knowledge.RunCanceled:
	default:
		return nil, knowledge.Errorf(knowledge.CodeConflict, "run %q has ended already: it is %s", run.ID, run.Status)
	}
	return &runOutput{s.viewRun(run)}, nil
}

// stopRun asks a run's workflow to end it. A question, a research, an import or a reindex that has
// none, since a process died before, is ended here. A document's ingest that has none is
// started, so that it ends as such ingests do.
func (s *Server) stopRun(ctx context.Context, p knowledge.Principal, run store.Run) error {
	known, err := s.deps.Dispatch.CancelRun(ctx, run)
	if known || err != nil {
		return err
	}
	switch run.Kind {
	case knowledge.KindQuery, knowledge.KindTool, knowledge.KindResearch, knowledge.KindImport, knowledge.KindReindex:
		end := record.Canceled(run.Kind)
		return s.deps.Store.EndRun(ctx, run.Workspace, run.ID, end.RunEnd("", s.now()))
	case knowledge.KindIngest:
		v, err := s.deps.Store.VersionFor(ctx, p, run.Subject, run.Version)
		if err == nil {
			err = s.deps.Dispatch.Ingest(ctx, v)
		}
		if err == nil {
			_, err = s.deps.Dispatch.CancelRun(ctx, run)
		}
		return err
	}
	return nil
}

func (s *Server) viewRun(r store.Run) runView {
	view := runView{
		ID: r.ID, Kind: r.Kind, Status: r.Status, WorkflowID: r.WorkflowID, ProjectID: orNull(r.Project), DocumentID: orNull(r.Subject),
		CreatedAt: r.CreatedAt, EndedAt: orNull(r.EndedAt), Usage: r.Usage, OperatorURL: s.deps.Links.OperatorURL(r.WorkflowID),
	}
	if r.Kind == knowledge.KindImport {
		view.DocumentID, view.ImportID = nil, orNull(r.Subject)
	}
	if r.Kind == knowledge.KindReindex || r.Kind == knowledge.KindRemoveProject {
		view.DocumentID, view.Progress = nil, r.Progress
	}
	if r.Error != nil {
		view.Error = &runError{Code: r.Error.Code, Message: r.Error.Message, RetryAt: orNull(r.Error.RetryAt)}
	}
	if len(view.Usage) == 0 {
		view.Usage = json.RawMessage("null")
	}
	return view
}

// runResult returns the result of a completed run, as its last event showed it.
func (s *Server) runResult(ctx context.Context, p knowledge.Principal, run store.Run) (any, error) {
	if run.Status != knowledge.RunCompleted {
		return nil, nil
	}
	rendered := &renderer{server: s, reading: &reading{principal: p, run: run}}
	switch run.Kind {
	case knowledge.KindQuery, knowledge.KindResearch:
		return rendered.answer(ctx, run.ResultKey)
	case knowledge.KindTool:
		return rendered.toolResult(ctx, run.ResultKey)
	case knowledge.KindRemove, knowledge.KindRemoveProject:
		return nil, nil
	case knowledge.KindImport:
		return s.endedImport(ctx, p, run)
	case knowledge.KindReindex:
		return reindexProgress(run)
	}
	last, err := s.lastItem(ctx, runRef(run))
	if err != nil {
		return nil, err
	}
	d, err := s.endedDocument(ctx, p, run, last)
	if knowledge.IsCode(err, knowledge.CodeNotFound) {
		return nil, nil // removed
	}
	if err != nil {
		return nil, err
	}
	return s.documentView(d), nil
}
