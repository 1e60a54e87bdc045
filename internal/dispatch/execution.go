package dispatch

import (
	"context"
	"time"

	"go.temporal.io/api/workflowservice/v1"
)

// Execution returns Temporal's id of the newest run of a workflow that had begun at a time, ""
// if its history is gone.
func (d *Dispatcher) Execution(ctx context.Context, workflowID string, at time.Time) (string, error) {
	found, err := d.client.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{
		PageSize: historyPage, Query: "WorkflowId = " + quote(workflowID) + " AND StartTime <= " + quote(at.UTC().Format(time.RFC3339Nano)),
	})
	if err != nil {
		return "", wrap(err, "list the runs of", workflowID)
	}
	newest, id := time.Time{}, ""
	for _, one := range found.GetExecutions() {
		if began := one.GetStartTime().AsTime(); began.After(newest) {
			newest, id = began, one.GetExecution().GetRunId()
		}
	}
	return id, nil
}
