package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
)

// reindexView is a reindex that has started, or would.
type reindexView struct {
	RunID       string `json:"run_id,omitempty" doc:"Not in a dry run"`
	Matched     int    `json:"matched" doc:"Documents whose published version was made with another embedding model, splitter or enrichment than the project has now, without attachments; with rebuild all documents"`
	OperatorURL string `json:"operator_url,omitempty"`
	EventsURL   string `json:"events_url,omitempty" doc:"Where the events of the run are, for an hour without a key"`
}

// reindexBody is the body of a reindex, which may be left out.
type reindexBody struct {
	DryRun  bool `json:"dry_run,omitempty" doc:"As in the address"`
	Rebuild bool `json:"rebuild,omitempty" doc:"Write the index entries of all documents again, from the database and the stored vectors, and make no new versions"`
}

type reindexOutput struct {
	Status int
	Run    string `header:"Cairn-Run-Id"`
	Body   reindexView
}

func (s *Server) registerReindex() {
	edge.Handle(s.edge, edge.Route{Scope: knowledge.ScopeWrite, Anew: true, Operation: huma.Operation{
		OperationID: "reindex-project", Method: http.MethodPost, Path: "/workspaces/{workspaceId}/projects/{id}/reindex", DefaultStatus: http.StatusAccepted,
		Summary: "Embed a project's documents again, and make new versions of those that are outdated",
		Description: "After a change of ai.embeddings, ai.textSplitter, ai.enrichment or ai.multimodal. The old vectors serve until all documents have new ones, and the old version of a document until the new one is published. " +
			"While a reindex of the project runs, the answer names that one. Its counts are the progress of the run.", Tags: []string{"projects"},
		Responses: map[string]*huma.Response{"200": {Description: "A dry run: nothing starts"}},
	}}, s.reindexProject)
	for _, way := range []struct {
		name, summary string
		paused        bool
	}{{"pause", "Ask a research, an import or a reindex to pause", true}, {"resume", "Ask a research, an import or a reindex to resume", false}} {
		for prefix, path := range map[string]string{"workspace-": "/workspaces/{workspaceId}/runs", "": "/runs"} {
			edge.Handle(s.edge, edge.Route{Scope: knowledge.ScopeRead, Operation: huma.Operation{
				OperationID: prefix + way.name + "-run", Method: http.MethodPost, Path: path + "/{run_id}/" + way.name, DefaultStatus: http.StatusAccepted,
				Summary: way.summary, Description: "What has begun ends. A research may be paused by whoever owns it, the others by a key with the write scope. Runs of other kinds: 409.", Tags: []string{"runs"},
			}}, func(ctx context.Context, p knowledge.Principal, in *runPath) (*runOutput, error) {
				return s.pauseRun(ctx, p, in.ID, way.paused)
			})
		}
	}
}

func (s *Server) reindexProject(ctx context.Context, p knowledge.Principal, in *struct {
	ProjectPath
	DryRun bool `query:"dry_run" doc:"Only count the documents"`
	Body   *reindexBody
}) (*reindexOutput, error) {
	project, err := s.deps.Store.Project(ctx, p, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read project %s: %w", in.ID, err)
	}
	if in.DryRun || in.Body != nil && in.Body.DryRun {
		matched, err := s.deps.Store.CountOutdated(ctx, p, project.ID, project.Config)
		return &reindexOutput{Status: http.StatusOK, Body: reindexView{Matched: matched}}, err
	}
	id, _ := edge.RunID(ctx)
	var run store.Run
	if in.Body != nil && in.Body.Rebuild {
		run, err = s.deps.Store.StartRebuild(ctx, p, project.ID, id)
	} else {
		run, err = s.deps.Store.StartReindex(ctx, p, project.ID, id, project.Config)
	}
	if err != nil {
		return nil, fmt.Errorf("reindex project %s: %w", project.ID, err)
	}
	if run.Status == knowledge.RunRunning {
		s.startReindex(ctx, run)
	}
	progress, err := reindexProgress(run)
	if err != nil {
		return nil, err
	}
	return &reindexOutput{http.StatusAccepted, run.ID, reindexView{
		RunID: run.ID, Matched: progress.Matched, OperatorURL: s.deps.Links.OperatorURL(run.WorkflowID), EventsURL: s.eventsURL(p, run.ID),
	}}, nil
}

// startReindex starts a reindex, unless it runs. The run is on record, so the sweep
// repeats a start that fails.
func (s *Server) startReindex(ctx context.Context, run store.Run) {
	if err := s.deps.Dispatch.Reindex(ctx, run); err != nil {
		s.deps.Log.WarnContext(ctx, "reindex starts later", "workspace", run.Workspace, "project", run.Project, "run", run.ID, "error", err)
	}
}

// pauseRun asks a research, an import or a reindex to pause, or to resume.
func (s *Server) pauseRun(ctx context.Context, p knowledge.Principal, id string, paused bool) (*runOutput, error) {
	run, err := s.deps.Store.Run(ctx, p, id)
	switch {
	case err != nil && !p.Can(knowledge.ScopeWrite): // it says nothing of runs that the caller does not see
		return nil, errMayNotPause()
	case err != nil:
		return nil, fmt.Errorf("read run %s: %w", id, err)
	case run.Kind == knowledge.KindResearch:
		return s.controlResearch(ctx, p, run, record.ResearchControl{Paused: &paused}, func() error { return nil })
	case !p.Can(knowledge.ScopeWrite):
		return nil, errMayNotPause()
	case run.Kind == knowledge.KindImport:
		_, err := s.imports.Pause(ctx, p, run.Subject, paused)
		return &runOutput{s.viewRun(run)}, err
	case run.Kind != knowledge.KindReindex:
		return nil, knowledge.Errorf(knowledge.CodeConflict, "a run of the kind %s cannot be paused: only a research, an import or a reindex can", run.Kind)
	case run.Status != knowledge.RunRunning:
		return nil, knowledge.Errorf(knowledge.CodeConflict, "run %q has ended already: it is %s", run.ID, run.Status)
	}
	known, err := s.deps.Dispatch.PauseReindex(ctx, run, paused)
	if err == nil && !known { // a crash came before its start
		if err = s.deps.Dispatch.Reindex(ctx, run); err == nil {
			_, err = s.deps.Dispatch.PauseReindex(ctx, run, paused)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("pause run %s: %w", id, err)
	}
	return &runOutput{s.viewRun(run)}, nil
}

func errMayNotPause() error {
	return knowledge.Errorf(knowledge.CodeForbidden, "only the owner of a research, or a key with the write scope, may pause or resume a run")
}

// reindexProgress decodes how far a reindex is.
func reindexProgress(run store.Run) (p knowledge.ReindexProgress, err error) {
	if err := json.Unmarshal(run.Progress, &p); err != nil {
		return p, fmt.Errorf("decode the progress of run %s: %w", run.ID, err)
	}
	return p, nil
}

// endedReindex reads the progress of a reindex again: the run was read before it ended.
func (s *Server) endedReindex(ctx context.Context, p knowledge.Principal, run store.Run) (knowledge.ReindexProgress, error) {
	run, err := s.deps.Store.Run(ctx, p, run.ID)
	if err != nil {
		return knowledge.ReindexProgress{}, fmt.Errorf("read run %s: %w", run.ID, err)
	}
	return reindexProgress(run)
}
