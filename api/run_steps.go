package api

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
)

// runStep is a step of a run as clients see it.
type runStep struct {
	Name        string              `json:"name" doc:"What the step does, such as model call 1"`
	Activity    string              `json:"activity" doc:"The name of the activity in Temporal"`
	Status      knowledge.RunStatus `json:"status" enum:"running,completed,failed,canceled"`
	CreatedAt   time.Time           `json:"created_at"`
	StartedAt   *time.Time          `json:"started_at" doc:"When its last attempt began; null: it waits"`
	EndedAt     *time.Time          `json:"ended_at"`
	Seconds     float64             `json:"seconds" doc:"From its creation to its end, or until now, with earlier attempts and waits"`
	LastSeconds float64             `json:"last_seconds" doc:"Of its last attempt"`
	Attempts    int                 `json:"attempts"`
	Code        knowledge.Code      `json:"code,omitempty" doc:"Why its last failed attempt failed"`
	NextAt      *time.Time          `json:"next_at,omitempty" doc:"When a step that waits is attempted again"`
	Usage       *knowledge.Usage    `json:"usage,omitempty" doc:"What models used, of a completed step"`
}

func (r *runRoutes) mountSteps(e *edge.Edge) {
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "list-run-steps", Method: http.MethodGet, Path: "/workspaces/{workspaceId}/runs/{run_id}/steps", Summary: "List the steps of a run", Tags: []string{"runs"},
		Description: "The activities of the run's workflow, oldest first, up to the newest 1,000: model calls with their seconds and tokens, attempts, and what a step waits for. They are read from the history of the workflow; the list is empty once Temporal has deleted it, and for ingests and removals of documents, whose workflows serve many runs. Whoever may read the answer of a run may read its steps.",
	}}, r.listSteps)
}

func (r *runRoutes) listSteps(ctx context.Context, p knowledge.Principal, in *struct {
	WorkspacePath
	RunPath
}) (*listOutput[runStep], error) {
	run, err := r.store.Run(ctx, p, in.ID)
	if err != nil {
		return nil, fmt.Errorf("read run %s: %w", in.ID, err)
	}
	if _, err := r.readers.asReader(ctx, p, run); err != nil {
		return nil, err
	}
	if traits := run.Kind.Traits(); traits.SharesWorkflow || traits.ReusesID || run.WorkflowID == "" {
		return page([]runStep{}, ""), nil
	}
	steps, err := r.dispatch.Steps(ctx, run.WorkflowID)
	if err != nil {
		return nil, fmt.Errorf("list the steps of run %s: %w", in.ID, err)
	}
	return page(convert(steps, r.viewStep), ""), nil
}

func (r *runRoutes) viewStep(s record.Step) runStep {
	until := s.Ended
	if until.IsZero() {
		until = r.now()
	}
	view := runStep{
		Name: s.Name, Activity: s.Activity, Status: s.Status, CreatedAt: s.Began, StartedAt: orNull(s.Started), EndedAt: orNull(s.Ended),
		Seconds: until.Sub(s.Began).Seconds(), Attempts: s.Attempts, Code: s.Cause, NextAt: orNull(s.Next), Usage: orNull(s.Usage),
	}
	if !s.Started.IsZero() {
		view.LastSeconds = until.Sub(s.Started).Seconds()
	}
	return view
}
