package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// retentionAnswer is what is due by the age of things, and the run that takes it away.
type retentionAnswer struct {
	Status int
	Run    string `header:"Cairn-Run-Id"`
	Body   struct {
		Due        int     `json:"due" doc:"Documents, conversations and runs whose time is over, without those that a hold keeps"`
		KeptByHold int     `json:"kept_by_hold" doc:"Documents whose time is over, and that a legal hold keeps"`
		RunID      *string `json:"run_id" doc:"null: it was a dry run"`

		Documents     int `json:"documents"`
		Conversations int `json:"conversations"`
		Runs          int `json:"runs"`
	} `nameHint:"RetentionDue"`
}

// retentionRoutes holds the route that applies retention.
type retentionRoutes struct {
	store    Retention
	dispatch Dispatcher
	base     string // the level of documents without a classification
}

func (rr *retentionRoutes) mount(e *edge.Edge) {
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "run-retention", Method: http.MethodPost, Path: "/workspaces/{workspaceId}/retention/run", DefaultStatus: http.StatusAccepted,
		Summary: "Apply the retention of all projects now", Tags: []string{"projects"},
		Description: "Removes and hides what the projects of the workspace keep no longer, as it also happens within an hour by itself. A retention that is under way is returned. The key must be for every project.",
		Responses:   map[string]*huma.Response{"200": {Description: "The result of a dry run; nothing was started"}},
	}}, rr.run)
}

func (rr *retentionRoutes) run(ctx context.Context, p knowledge.Principal, in *struct {
	WorkspacePath
	Body struct {
		DryRun bool `json:"dry_run,omitempty" doc:"Count what is due, and remove nothing"`
	} `nameHint:"RetentionRun"`
}) (*retentionAnswer, error) {
	due, err := rr.store.DueRetention(ctx, p, rr.base)
	if err != nil {
		return nil, fmt.Errorf("count what is due: %w", err)
	}
	out := &retentionAnswer{Status: http.StatusOK}
	out.Body.Due, out.Body.KeptByHold, out.Body.Documents, out.Body.Conversations, out.Body.Runs = due.Due(), due.KeptByHold, due.Documents, due.Conversations, due.Runs
	if in.Body.DryRun {
		return out, nil
	}
	id, _ := edge.RunID(ctx)
	run, err := rr.store.BeginRetention(ctx, p, id)
	if err != nil {
		return nil, fmt.Errorf("start the retention: %w", err)
	}
	if err := rr.dispatch.Retain(ctx, run); err != nil {
		// The run is on record; the sweep starts it.
		edge.RequestLog(ctx).WarnContext(ctx, "the retention starts later", "run", run.ID, "error", err)
	}
	out.Status, out.Run, out.Body.RunID = http.StatusAccepted, run.ID, &run.ID
	return out, nil
}

// retentionProgress returns what a run of retention has done.
func retentionProgress(run store.Run) (any, error) {
	var p knowledge.RetentionProgress
	if len(run.Progress) == 0 {
		return p, nil
	}
	if err := json.Unmarshal(run.Progress, &p); err != nil {
		return nil, fmt.Errorf("decode the progress of run %s: %w", run.ID, err)
	}
	return p, nil
}

// endedRetention reads the progress of a retention again: the run was read before it ended.
func (r *results) endedRetention(ctx context.Context, p knowledge.Principal, run store.Run) (any, error) {
	run, err := r.store.Run(ctx, p, run.ID)
	if err != nil {
		return nil, fmt.Errorf("read run %s: %w", run.ID, err)
	}
	return retentionProgress(run)
}
