package api

import (
	"context"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/importing"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
)

// runControlRoutes holds the routes that pause, resume and steer runs and decide about their
// tool calls.
type runControlRoutes struct {
	store    Runs
	blobs    Blobs
	dispatch Dispatcher
	imports  *importing.Starter
	views    *views
}

func (r *runControlRoutes) mount(e *edge.Edge) {
	r.mountApprovals(e)
	r.mountSteering(e)
	for _, way := range []struct {
		name, summary string
		paused        bool
	}{{"pause", "Pause a research run, an import or a reindex", true}, {"resume", "Resume a research run, an import or a reindex", false}} {
		for prefix, path := range map[string]string{"workspace-": "/workspaces/{workspaceId}/runs", "": "/runs"} {
			edge.Handle(e, edge.Route{Operation: huma.Operation{
				OperationID: prefix + way.name + "-run", Method: http.MethodPost, Path: path + "/{run_id}/" + way.name, DefaultStatus: http.StatusAccepted,
				Summary: way.summary, Description: "A pause lets the steps that have begun finish. The owner may pause and resume a research run; other runs need a key with the write scope. Runs of other kinds are answered with 409.", Tags: []string{"runs"},
			}}, func(ctx context.Context, p knowledge.Principal, in *RunPath) (*runOutput, error) {
				return r.pauseRun(ctx, p, in.ID, way.paused)
			})
		}
	}
}

// pauseRun asks a research, an import or a reindex to pause, or to resume.
func (r *runControlRoutes) pauseRun(ctx context.Context, p knowledge.Principal, id string, paused bool) (*runOutput, error) {
	run, err := r.store.Run(ctx, p, id)
	switch {
	case err != nil && !p.Can(knowledge.ScopeWrite): // it says nothing of runs that the caller does not see
		return nil, errMayNotPause()
	case err != nil:
		return nil, fmt.Errorf("read run %s: %w", id, err)
	case run.Kind == knowledge.KindResearch:
		return r.controlResearch(ctx, p, run, record.ResearchControl{Paused: &paused}, func() error { return nil })
	case !p.Can(knowledge.ScopeWrite):
		return nil, errMayNotPause()
	case run.Kind == knowledge.KindImport:
		_, err := r.imports.Pause(ctx, p, run.Subject, paused)
		return &runOutput{r.views.run(run)}, err
	case run.Kind == knowledge.KindEvaluate:
		return nil, knowledge.Errorf(knowledge.CodeConflict, "an evaluation is paused and resumed by its own routes: POST evaluations/%s/pause", run.ID)
	case run.Kind != knowledge.KindReindex:
		return nil, knowledge.Errorf(knowledge.CodeConflict, "a run of the kind %s cannot be paused: only research runs, imports and reindexes can", run.Kind)
	case run.Status != knowledge.RunRunning:
		return nil, knowledge.Errorf(knowledge.CodeConflict, "run %q has ended already: it is %s", run.ID, run.Status)
	}
	known, err := r.dispatch.PauseReindex(ctx, run, paused)
	if err == nil && !known { // a crash came before its start
		if err = r.dispatch.Reindex(ctx, run); err == nil {
			_, err = r.dispatch.PauseReindex(ctx, run, paused)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("pause run %s: %w", id, err)
	}
	return &runOutput{r.views.run(run)}, nil
}

func errMayNotPause() error {
	return knowledge.Errorf(knowledge.CodeForbidden, "only the owner of a research run, or a key with the write scope, may pause or resume a run")
}
