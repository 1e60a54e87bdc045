package dispatch

import (
	"context"
	"fmt"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// historyPage is the number of workflows that one list returns.
const historyPage = 500

// OwnsHistories makes the dispatcher delete the histories in a namespace that nobody needs
// any more. Without it they stay for the retention of the namespace, which an operator
// chooses.
func (d *Dispatcher) OwnsHistories(namespace string) *Dispatcher {
	d.namespace = namespace
	return d
}

// ForgetIngests deletes the histories of the ended ingests of a document. One that ended a
// moment ago may stay for DropHistories.
func (d *Dispatcher) ForgetIngests(ctx context.Context, workspace, document string) error {
	if d.namespace == "" {
		return nil
	}
	id := knowledge.KindIngest.WorkflowID(workspace, document)
	return d.forget(ctx, "ExecutionStatus != 'Running' AND WorkflowId = '"+strings.ReplaceAll(id, "'", "''")+"'")
}

// DropHistories deletes the histories of ingests and removals of documents that completed
// before a time. Those of runs that failed or were canceled, which have a status as a
// search attribute, stay for the retention of the namespace.
func (d *Dispatcher) DropHistories(ctx context.Context, before time.Time) error {
	return d.forget(ctx, fmt.Sprintf("WorkflowType IN ('IngestDocument', 'RemoveDocument') AND ExecutionStatus = 'Completed' AND CairnStatus IS NULL AND CloseTime < '%s'",
		before.UTC().Format(time.RFC3339Nano)))
}

// forget deletes the histories of the closed workflows that a query finds.
func (d *Dispatcher) forget(ctx context.Context, query string) error {
	request := &workflowservice.ListWorkflowExecutionsRequest{PageSize: historyPage, Query: query}
	for {
		page, err := d.client.ListWorkflow(ctx, request)
		if err != nil {
			return wrap(err, "list ended", "workflows")
		}
		for _, execution := range page.GetExecutions() {
			if err := d.delete(ctx, execution.GetExecution()); err != nil {
				return err
			}
		}
		if request.NextPageToken = page.GetNextPageToken(); len(request.NextPageToken) == 0 {
			return nil
		}
	}
}

// delete deletes one run of a workflow, so that a later run of the same id stays.
func (d *Dispatcher) delete(ctx context.Context, execution *commonpb.WorkflowExecution) error {
	_, err := d.client.WorkflowService().DeleteWorkflowExecution(ctx, &workflowservice.DeleteWorkflowExecutionRequest{
		Namespace: d.namespace, WorkflowExecution: execution,
	})
	if isMissing(err) {
		return nil
	}
	return wrap(err, "delete the history of", execution.GetWorkflowId())
}
