package dispatch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/workflows"
)

// historyPage is the number of workflows that one list returns.
const historyPage = 500

// OwnsHistories makes the dispatcher delete the histories that nobody needs any more.
// Without it they stay for the retention of the namespace, which an operator chooses, and
// only the histories of removed projects are deleted.
func (d *Dispatcher) OwnsHistories() *Dispatcher {
	d.ownsHistories = true
	return d
}

// ForgetIngests deletes the histories of the ended ingests of a document. One that ended a
// moment ago may stay for DropHistories.
func (d *Dispatcher) ForgetIngests(ctx context.Context, workspace, document string) error {
	if !d.ownsHistories {
		return nil
	}
	id := knowledge.KindIngest.WorkflowID(workspace, document)
	return d.forget(ctx, "ExecutionStatus != 'Running' AND WorkflowId = "+quote(id))
}

// ForgetProject deletes the histories of the ended workflows of a project, the children
// among them, and returns how many workflows of the project are still open. Its removal
// and its webhooks do not count: their histories hold ids only. A second call deletes
// those that have ended meanwhile. A cluster that does not let Cairn delete histories
// keeps them.
func (d *Dispatcher) ForgetProject(ctx context.Context, workspace, project string) (open int, err error) {
	of := fmt.Sprintf("%s = %s AND %s = %s AND ExecutionStatus ", workflows.AttributeWorkspace, quote(workspace), workflows.AttributeProject, quote(project))
	err = d.forget(ctx, of+"!= 'Running'")
	var denied *serviceerror.PermissionDenied
	if errors.As(err, &denied) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	count, err := d.client.CountWorkflow(ctx, &workflowservice.CountWorkflowExecutionsRequest{
		Query: of + "= 'Running' AND WorkflowType NOT IN ('RemoveProject', 'DeliverWebhook')",
	})
	return int(count.GetCount()), wrap(err, "count the workflows of project", project)
}

// ForgetRun deletes the histories of an ended run's workflow and of its log. A cluster that
// does not let Cairn delete histories keeps them.
func (d *Dispatcher) ForgetRun(ctx context.Context, r store.Run) error {
	for _, id := range slices.Compact([]string{r.WorkflowID, r.LogWorkflowID()}) {
		if id == "" {
			continue
		}
		err := d.delete(ctx, &commonpb.WorkflowExecution{WorkflowId: id})
		var denied *serviceerror.PermissionDenied
		if err != nil && !errors.As(err, &denied) {
			return err
		}
	}
	return nil
}

// quote returns a text as a value in a query for workflows.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

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
