package dispatch

import (
	"context"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/workflows"
)

// Evaluate starts the workflow of an evaluation. Doing it twice changes nothing, also after it
// has ended.
func (d *Dispatcher) Evaluate(ctx context.Context, r store.Run, settings record.EvaluationSettings) error {
	options := d.options(r.WorkflowID, workflows.QueueQuery, priorityBulk, r.Workspace)
	options.WorkflowIDReusePolicy = enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE
	options.StaticSummary = "evaluate a project"
	options.TypedSearchAttributes = d.attributes(r.Workspace, r.Project)
	of := knowledge.RunRef{Workspace: r.Workspace, Project: r.Project, Run: r.ID}
	in := workflows.EvaluateInput{EvaluationState: answering.EvaluationState{RunRef: of}, Budget: settings.Budget, Offline: settings.Judge.IsOffline()}
	_, err := d.client.ExecuteWorkflow(ctx, options, workflows.EvaluateProject, in)
	if isRunning(err) {
		return nil
	}
	return wrap(err, "start evaluation", r.ID)
}

// PauseEvaluation asks an evaluation to pause, or to resume. known is false if it has no
// workflow that is open.
func (d *Dispatcher) PauseEvaluation(ctx context.Context, r store.Run, paused bool) (known bool, err error) {
	err = d.client.SignalWorkflow(ctx, r.WorkflowID, "", workflows.SignalEvaluation, workflows.EvaluationControl{Paused: paused})
	if isMissing(err) {
		return false, nil
	}
	return err == nil, wrap(err, "pause evaluation", r.ID)
}
