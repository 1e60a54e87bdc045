package api

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// reindexView is a reindex that has started, or would.
type reindexView struct {
	RunID       string `json:"run_id,omitempty" doc:"Absent in a dry run"`
	Matched     int    `json:"matched" doc:"The number of documents whose published version was processed with another embedding model, splitter or enrichment than the project has now, without attachments; with rebuild all documents"`
	OperatorURL string `json:"operator_url,omitempty"`
	EventsURL   string `json:"events_url,omitempty" doc:"The URL of the run's events; needs no key for an hour"`
}

// reindexBody is the body of a reindex, which may be left out.
type reindexBody struct {
	DryRun  bool `json:"dry_run,omitempty" doc:"The same as the query parameter"`
	Rebuild bool `json:"rebuild,omitempty" doc:"Only rebuild the index entries of all documents, from the database and the stored vectors; make no new versions"`
}

type reindexOutput struct {
	Status int
	Run    string `header:"Cairn-Run-Id"`
	Body   reindexView
}

// reindexRoutes starts reindexes, and holds their route.
type reindexRoutes struct {
	store    Store
	dispatch Dispatcher
	views    *views
	log      *slog.Logger
}

func (r *reindexRoutes) mount(e *edge.Edge) {
	edge.Handle(e, edge.Route{Anew: true, Operation: huma.Operation{
		OperationID: "reindex-project", Method: http.MethodPost, Path: "/workspaces/{workspaceId}/projects/{id}/reindex", DefaultStatus: http.StatusAccepted,
		Summary: "Reindex a project",
		Description: "Use it after a change of ai.embeddings, ai.textSplitter, ai.enrichment, ai.multimodal or ai.tables. It embeds all documents again if the embedding model has changed, and makes new versions of documents that were processed with other settings. " +
			"The old vectors stay in use until all documents have new ones, and the old version of a document until the new one is published. If a reindex of the project is running, the answer has its run. The progress of the run has the counts.", Tags: []string{"projects"},
		Responses: map[string]*huma.Response{"200": {Description: "The result of a dry run; nothing was started"}},
	}}, r.reindexProject)
}

func (r *reindexRoutes) reindexProject(ctx context.Context, p knowledge.Principal, in *struct {
	ProjectPath
	DryRun bool `query:"dry_run" doc:"Only count the documents"`
	Body   *reindexBody
}) (*reindexOutput, error) {
	project, err := r.store.Project(ctx, p, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read project %s: %w", in.ID, err)
	}
	if in.DryRun || in.Body != nil && in.Body.DryRun {
		matched, err := r.store.CountOutdated(ctx, p, project.ID, project.Config)
		return &reindexOutput{Status: http.StatusOK, Body: reindexView{Matched: matched}}, err
	}
	id, _ := edge.RunID(ctx)
	var run store.Run
	if in.Body != nil && in.Body.Rebuild {
		run, err = r.store.StartRebuild(ctx, p, project.ID, id)
	} else {
		run, err = r.store.StartReindex(ctx, p, project.ID, id, project.Config)
	}
	if err != nil {
		return nil, fmt.Errorf("reindex project %s: %w", project.ID, err)
	}
	if run.Status == knowledge.RunRunning {
		r.start(ctx, run)
	}
	progress, err := reindexProgress(run)
	if err != nil {
		return nil, err
	}
	return &reindexOutput{http.StatusAccepted, run.ID, reindexView{
		RunID: run.ID, Matched: progress.Matched, OperatorURL: r.views.links.OperatorURL(run.WorkflowID), EventsURL: r.views.eventsURL(p, run.ID),
	}}, nil
}

// start starts a reindex, unless it runs. The run is on record, so the sweep
// repeats a start that fails.
func (r *reindexRoutes) start(ctx context.Context, run store.Run) {
	if err := r.dispatch.Reindex(ctx, run); err != nil {
		r.log.WarnContext(ctx, "reindex starts later", "workspace", run.Workspace, "project", run.Project, "run", run.ID, "error", err)
	}
}

// reindexProgress decodes how far a reindex is.
func reindexProgress(run store.Run) (p knowledge.ReindexProgress, err error) {
	if err := json.Unmarshal(run.Progress, &p); err != nil {
		return p, fmt.Errorf("decode the progress of run %s: %w", run.ID, err)
	}
	return p, nil
}

// endedReindex reads the progress of a reindex again: the run was read before it ended.
func (r *results) endedReindex(ctx context.Context, p knowledge.Principal, run store.Run) (knowledge.ReindexProgress, error) {
	run, err := r.store.Run(ctx, p, run.ID)
	if err != nil {
		return knowledge.ReindexProgress{}, fmt.Errorf("read run %s: %w", run.ID, err)
	}
	return reindexProgress(run)
}
