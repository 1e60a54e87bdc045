package dispatch

import (
	"context"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/workflows"
)

// Generate starts the workflow that has a model make a test set. Doing it twice changes nothing,
// also after it has ended.
func (d *Dispatcher) Generate(ctx context.Context, r store.Run) error {
	options := d.options(r.WorkflowID, workflows.QueueQuery, priorityBulk, r.Workspace)
	options.WorkflowIDReusePolicy = enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE
	options.StaticSummary = "make a test set"
	options.TypedSearchAttributes = d.attributes(r.Workspace, r.Project)
	of := knowledge.RunRef{Workspace: r.Workspace, Project: r.Project, Run: r.ID}
	_, err := d.client.ExecuteWorkflow(ctx, options, workflows.GenerateTestSet, workflows.GenerateInput{GenerationState: answering.GenerationState{RunRef: of}})
	if isRunning(err) {
		return nil
	}
	return wrap(err, "start generation", r.ID)
}
