package dispatch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/temporal"

	"github.com/cairn-rag/cairn/activities/delivery"
	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/workflows"
)

// taskTimeout is how soon after a worker's death its workflow tasks are given
// to another.
const taskTimeout = 3 * time.Second

// The priorities of workflows: 1 is the most urgent.
const (
	priorityQuestion = 1
	priorityRemoval  = 2
	priorityUpload   = 3
	priorityFresh    = 4 // what changed in a place that is followed
	priorityBulk     = 5
	priorityWebhook  = 3
)

// Dispatcher reaches workflows through a Temporal client. Safe for concurrent
// use.
type Dispatcher struct {
	client client.Client
	builds []string
	named  bool
	reads  converter.DataConverter // of histories

	namespace     string
	ownsHistories bool
	eraseFiles    func(ctx context.Context) error // nil = somebody else runs the Temporal server
}

// New makes a dispatcher of a namespace. build is what the workers call their build.
func New(c client.Client, namespace, build string) *Dispatcher {
	return &Dispatcher{client: c, namespace: namespace, builds: []string{"unversioned", "unversioned:" + build}, reads: converter.GetDefaultDataConverter()}
}

// Reads sets what reads the payloads of histories, if they are encrypted.
func (d *Dispatcher) Reads(with converter.DataConverter) *Dispatcher {
	d.reads = with
	return d
}

// Named makes the summaries of ingests name the external ids of their documents.
func (d *Dispatcher) Named(named bool) *Dispatcher {
	d.named = named
	return d
}

// ingestSummary is how Temporal's pages call the ingest of a version.
func (d *Dispatcher) ingestSummary(v store.Version) string {
	if !d.named || v.ExternalID == "" {
		return "ingest a document"
	}
	return "ingest " + quoted(v.ExternalID)
}

// maxQuoted bounds a name in a summary in bytes: Temporal refuses summaries above 400.
const maxQuoted = 200

// quoted returns a name as code: Temporal's pages read summaries as Markdown.
func quoted(name string) string {
	name = strings.Map(func(r rune) rune {
		if r == '`' || !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, name)
	if len(name) > maxQuoted {
		name = "…" + strings.ToValidUTF8(name[len(name)-maxQuoted:], "") // the end of a path tells more
	}
	return "`" + name + "`"
}

// Ingest starts the ingest of a version, or signals it to the workflow that
// already ingests the document. Doing it twice changes nothing.
func (d *Dispatcher) Ingest(ctx context.Context, v store.Version) error {
	return d.ingest(ctx, v, priorityUpload)
}

// IngestLater is Ingest with the priority of bulk work, so that uploads pass.
func (d *Dispatcher) IngestLater(ctx context.Context, v store.Version) error {
	return d.ingest(ctx, v, priorityBulk)
}

func (d *Dispatcher) ingest(ctx context.Context, v store.Version, priority int) error {
	task := workflows.IngestTask{Version: v.Version, Run: v.RunID}
	options := d.options(knowledge.KindIngest.WorkflowID(v.Workspace, v.Document), workflows.QueueIngest, priority, v.Workspace)
	options.StaticSummary = d.ingestSummary(v)
	options.TypedSearchAttributes = d.attributes(v.Workspace, v.Project, workflows.KeyDocument.ValueSet(v.Document))
	in := workflows.IngestInput{Workspace: v.Workspace, Project: v.Project, Document: v.Document, Tasks: []workflows.IngestTask{task}, ListWaits: true}
	_, err := d.client.ExecuteWorkflow(ctx, options, workflows.IngestDocument, in)
	if !isRunning(err) {
		return wrap(err, "start ingest of", v.Document)
	}
	options.EnableEagerStart = false
	options.WorkflowIDConflictPolicy = enumspb.WORKFLOW_ID_CONFLICT_POLICY_UNSPECIFIED // a running one is signalled
	in.Tasks = nil
	_, err = d.client.SignalWithStartWorkflow(ctx, options.ID, workflows.SignalIngest, task, options, workflows.IngestDocument, in)
	return wrap(err, "signal ingest of", v.Document)
}

// Remove starts the removal of a document. Doing it twice changes nothing.
func (d *Dispatcher) Remove(ctx context.Context, r store.Removal) error {
	options := d.options(knowledge.KindRemove.WorkflowID(r.Workspace, r.Document), workflows.QueueIngest, priorityRemoval, r.Workspace)
	options.StaticSummary = "remove a document"
	options.TypedSearchAttributes = d.attributes(r.Workspace, r.Project, workflows.KeyDocument.ValueSet(r.Document))
	_, err := d.client.ExecuteWorkflow(ctx, options, workflows.RemoveDocument, workflows.RemoveInput{RemoveInput: ingestion.RemoveInput{
		Workspace: r.Workspace, Project: r.Project, Document: r.Document, Run: r.RunID, Upto: r.Upto,
	}})
	if isRunning(err) {
		return nil
	}
	return wrap(err, "start removal of", r.Document)
}

// RemoveProject starts the removal of a project. Doing it twice changes nothing.
func (d *Dispatcher) RemoveProject(ctx context.Context, r store.Run) error {
	options := d.options(r.WorkflowID, workflows.QueueIngest, priorityRemoval, r.Workspace)
	options.StaticSummary = "remove a project"
	options.TypedSearchAttributes = d.attributes(r.Workspace, r.Project)
	in := knowledge.RunRef{Workspace: r.Workspace, Project: r.Project, Run: r.ID}
	_, err := d.client.ExecuteWorkflow(ctx, options, workflows.RemoveProject, in)
	if isRunning(err) {
		return nil
	}
	return wrap(err, "start removal of project", r.Project)
}

// EndGrants starts the workflow that ends the grants of a workspace that end before a time. It does
// nothing if one is open: the next sweep sees what that one does not wait for.
func (d *Dispatcher) EndGrants(ctx context.Context, workspace string, before time.Time) error {
	options := d.options(workflows.EndGrantsID(workspace), workflows.QueueIngest, priorityUpload, workspace)
	options.StaticSummary = "end the grants of a workspace"
	options.TypedSearchAttributes = d.attributes(workspace, "")
	_, err := d.client.ExecuteWorkflow(ctx, options, workflows.EndGrants, ingestion.EndGrantsInput{Workspace: workspace, Before: before})
	if isRunning(err) {
		return nil
	}
	return wrap(err, "end the grants of workspace", workspace)
}

// Retain starts a run of retention. It does nothing if the workspace has one that is open.
func (d *Dispatcher) Retain(ctx context.Context, r store.Run) error {
	options := d.options(r.WorkflowID, workflows.QueueIngest, priorityBulk, r.Workspace)
	options.StaticSummary = "apply the retention of a workspace"
	options.TypedSearchAttributes = d.attributes(r.Workspace, r.Project)
	in := ingestion.RetentionInput{RunRef: knowledge.RunRef{Workspace: r.Workspace, Run: r.ID}}
	_, err := d.client.ExecuteWorkflow(ctx, options, workflows.ApplyRetention, in)
	if isRunning(err) {
		return nil
	}
	return wrap(err, "start retention of workspace", r.Workspace)
}

// Import starts the run of an import. Doing it twice changes nothing, also after the run
// has ended. Its pages and their steps have its priority: those of a first run of a sync, and of
// other imports, let those of fresh runs pass.
func (d *Dispatcher) Import(ctx context.Context, i store.Import) error {
	priority := priorityBulk
	if i.Request.Fresh {
		priority = priorityFresh
	}
	options := d.options(i.WorkflowID(i.RunID), workflows.QueueBulk, priority, i.Workspace)
	options.WorkflowIDReusePolicy = enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE
	options.StaticSummary = "import the objects of a source"
	options.TypedSearchAttributes = d.attributes(i.Workspace, i.Project)
	in := workflows.ImportInput{ImportRef: i.ImportRef, Run: i.RunID, Retry: i.RunID != i.Import}
	_, err := d.client.ExecuteWorkflow(ctx, options, workflows.BulkImport, in)
	if isRunning(err) {
		return nil
	}
	return wrap(err, "start import", i.Import)
}

// PauseImport asks the run of an import to pause, or to resume. known is false if it has
// no workflow that is open.
func (d *Dispatcher) PauseImport(ctx context.Context, i store.Import, paused bool) (known bool, err error) {
	err = d.client.SignalWorkflow(ctx, i.WorkflowID(i.RunID), "", workflows.SignalImport, workflows.ImportControl{Paused: paused})
	if isMissing(err) {
		return false, nil
	}
	return err == nil, wrap(err, "pause import", i.Import)
}

// ReleaseImport ends the waits of the steps of an import's pages for a provider that limits
// requests. With now the provider is asked at once. Pages that do not run are left out.
func (d *Dispatcher) ReleaseImport(ctx context.Context, held store.HeldImport, now bool) error {
	for _, page := range held.Pages {
		err := d.client.SignalWorkflow(ctx, held.PageWorkflowID(page), "", workflows.SignalPage, workflows.PageRelease{Now: now})
		if err != nil && !isMissing(err) {
			return wrap(err, "release a page of import", held.Import)
		}
	}
	return nil
}

// Reindex starts the workflow of a reindex. It does nothing if the project has one that
// is open.
func (d *Dispatcher) Reindex(ctx context.Context, r store.Run) error {
	options := d.options(r.WorkflowID, workflows.QueueIngest, priorityBulk, r.Workspace)
	options.StaticSummary = "reindex a project"
	options.TypedSearchAttributes = d.attributes(r.Workspace, r.Project)
	of := knowledge.RunRef{Workspace: r.Workspace, Project: r.Project, Run: r.ID}
	var begun knowledge.ReindexProgress
	if err := json.Unmarshal([]byte(cmp.Or(string(r.Progress), "{}")), &begun); err != nil {
		return fmt.Errorf("decode the progress of run %s: %w", r.ID, err)
	}
	in := workflows.ReindexInput{ReindexState: ingestion.ReindexState{RunRef: of}, Fill: workflows.NewFill(begun)}
	_, err := d.client.ExecuteWorkflow(ctx, options, workflows.ReindexProject, in)
	if isRunning(err) {
		return nil
	}
	return wrap(err, "start reindex", r.ID)
}

// PauseReindex asks a reindex to pause, or to resume. known is false if it has no
// workflow that is open.
func (d *Dispatcher) PauseReindex(ctx context.Context, r store.Run, paused bool) (known bool, err error) {
	err = d.client.SignalWorkflow(ctx, r.WorkflowID, "", workflows.SignalReindex, workflows.ReindexControl{Paused: paused})
	if isMissing(err) {
		return false, nil
	}
	return err == nil, wrap(err, "pause reindex", r.ID)
}

// Answer starts the workflow of a run that ends in an answer. A second call for
// the same run changes nothing, also after the run has ended.
func (d *Dispatcher) Answer(ctx context.Context, kind knowledge.RunKind, in record.AnswerInput) error {
	summary, workflow, input := "answer a question", any(workflows.AnswerQuery), any(in)
	switch kind {
	case knowledge.KindTool:
		summary, workflow = "rag_search", workflows.RunTool
	case knowledge.KindResearch:
		summary, workflow, input = "research a question", workflows.DeepResearch, workflows.NewResearchInput(in)
	}
	options := d.options(kind.WorkflowID(in.Workspace, in.Run), workflows.QueueQuery, priorityQuestion, in.Workspace)
	options.WorkflowIDReusePolicy = enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE
	options.StaticSummary = summary
	options.TypedSearchAttributes = d.attributes(in.Workspace, in.Project)
	_, err := d.client.ExecuteWorkflow(ctx, options, workflow, input)
	if isRunning(err) {
		return nil
	}
	return wrap(err, "start run", in.Run)
}

// ControlResearch pauses, resumes or steers a research. known is false if it has no
// workflow that is open.
func (d *Dispatcher) ControlResearch(ctx context.Context, r store.Run, c record.ResearchControl) (known bool, err error) {
	err = d.client.SignalWorkflow(ctx, r.WorkflowID, "", workflows.SignalResearch, c)
	if isMissing(err) {
		return false, nil
	}
	return err == nil, wrap(err, "control research", r.ID)
}

// DeliverWebhook starts the workflow of a webhook, or wakes it. Doing it twice changes
// nothing.
func (d *Dispatcher) DeliverWebhook(ctx context.Context, q store.WebhookQueue) error {
	options := d.options(workflows.DeliverWebhookID(q.Workspace, q.Webhook), workflows.QueueWebhook, priorityWebhook, q.Workspace)
	options.StaticSummary = "deliver to a webhook"
	options.TypedSearchAttributes = d.attributes(q.Workspace, q.Project)
	options.EnableEagerStart = false
	options.WorkflowIDConflictPolicy = enumspb.WORKFLOW_ID_CONFLICT_POLICY_UNSPECIFIED // a running one is signaled
	_, err := d.client.SignalWithStartWorkflow(ctx, options.ID, workflows.SignalWake, nil, options, workflows.DeliverWebhook, delivery.DeliverInput{WebhookQueue: q})
	return wrap(err, "wake webhook", q.Webhook)
}

// CancelRun asks a run, but not a removal's, to stop; its workflow writes the
// end. known is false where nobody could be asked: a question has no workflow,
// open or closed, or a document's ingest or a reindex none that is open.
func (d *Dispatcher) CancelRun(ctx context.Context, r store.Run) (known bool, err error) {
	traits := r.Kind.Traits()
	if traits.ReusesID && !traits.SharesWorkflow { // a closed workflow of this id accepts a cancel
		if running, _, err := d.Running(ctx, r.WorkflowID); err != nil || !running {
			return false, err
		}
	}
	if traits.SharesWorkflow {
		err = d.client.SignalWorkflow(ctx, knowledge.KindIngest.WorkflowID(r.Workspace, r.Subject), "", workflows.SignalStop, workflows.IngestStop{Run: r.ID})
	} else {
		err = d.client.CancelWorkflow(ctx, r.WorkflowID, "")
	}
	if isMissing(err) { // it has ended meanwhile, or did not start
		running, known, err := d.Running(ctx, r.WorkflowID)
		return running || known && !traits.ReusesID, err
	}
	return true, wrap(err, "cancel run", r.ID)
}

// StopIngest tells a document's ingest to give up versions up to upto.
func (d *Dispatcher) StopIngest(ctx context.Context, workspace, document string, upto int) (running bool, err error) {
	err = d.client.SignalWorkflow(ctx, knowledge.KindIngest.WorkflowID(workspace, document), "", workflows.SignalStop, workflows.IngestStop{Upto: upto})
	if isMissing(err) {
		return false, nil
	}
	return err == nil, wrap(err, "stop ingest of", document)
}

// RetryNow makes a step of a document's ingest that waits for its next try try at once.
// It does nothing if no such workflow runs.
func (d *Dispatcher) RetryNow(ctx context.Context, workspace, document string) error {
	err := d.client.SignalWorkflow(ctx, knowledge.KindIngest.WorkflowID(workspace, document), "", workflows.SignalRetry, nil)
	if isMissing(err) {
		return nil
	}
	return wrap(err, "retry ingest of", document)
}

// Ingesting returns the version of a document whose steps run now, 0 if none do.
// Without a running workflow it is ingestion.ErrNotRunning.
func (d *Dispatcher) Ingesting(ctx context.Context, workspace, document string) (version int, err error) {
	id := knowledge.KindIngest.WorkflowID(workspace, document)
	response, err := d.client.QueryWorkflowWithOptions(ctx, &client.QueryWorkflowWithOptionsRequest{
		WorkflowID: id, QueryType: workflows.QueryIngesting, QueryRejectCondition: enumspb.QUERY_REJECT_CONDITION_NOT_OPEN,
	})
	if isMissing(err) || err == nil && response.QueryRejected != nil {
		return 0, ingestion.ErrNotRunning
	}
	if err == nil {
		err = response.QueryResult.Get(&version)
	}
	return version, wrap(err, "query", id)
}

// Publish signals a batch to the log in a workflow.
func (d *Dispatcher) Publish(ctx context.Context, workflowID string, b stream.Batch) error {
	return wrap(d.client.SignalWorkflow(ctx, workflowID, "", stream.SignalPublish, b), "signal", workflowID)
}

// Complete reports the result of a running activity.
func (d *Dispatcher) Complete(ctx context.Context, token []byte, result any) error {
	if err := d.client.CompleteActivity(ctx, token, result, nil); err != nil {
		return fmt.Errorf("complete an activity: %w", err)
	}
	return nil
}

// Running reports whether a workflow with this id is open; known is false where
// Temporal has none of that id, open or closed.
func (d *Dispatcher) Running(ctx context.Context, workflowID string) (running, known bool, err error) {
	description, err := d.client.DescribeWorkflowExecution(ctx, workflowID, "")
	if isMissing(err) {
		return false, false, nil
	}
	if err != nil {
		return false, false, wrap(err, "describe", workflowID)
	}
	return description.GetWorkflowExecutionInfo().GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, true, nil
}

func (d *Dispatcher) options(id, queue string, priority int, tenant string) client.StartWorkflowOptions {
	return client.StartWorkflowOptions{
		ID: id, TaskQueue: queue, WorkflowTaskTimeout: taskTimeout, EnableEagerStart: true,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
		WorkflowIDConflictPolicy:                 enumspb.WORKFLOW_ID_CONFLICT_POLICY_FAIL,
		WorkflowIDReusePolicy:                    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		Priority:                                 temporal.Priority{PriorityKey: priority, FairnessKey: tenant},
	}
}

// attributes are those by which an operator finds a workflow, and the one that
// Temporal would write after the workflow's first task: set from the start it
// saves one of three writes to the lists of workflows.
func (d *Dispatcher) attributes(workspace, project string, more ...temporal.SearchAttributeUpdate) temporal.SearchAttributes {
	return temporal.NewSearchAttributes(append(more,
		workflows.KeyWorkspace.ValueSet(workspace), workflows.KeyProject.ValueSet(project), workflows.KeyBuilds.ValueSet(d.builds))...)
}

func isRunning(err error) bool {
	var started *serviceerror.WorkflowExecutionAlreadyStarted
	return errors.As(err, &started)
}

func isMissing(err error) bool {
	var missing *serviceerror.NotFound
	return errors.As(err, &missing)
}

// wrap adds to an error what was attempted. A Temporal server that does not answer is
// CodeUnavailable.
func wrap(err error, verb, id string) error {
	if err == nil {
		return nil
	}
	err = fmt.Errorf("%s %s: %w", verb, id, err)
	var unavailable *serviceerror.Unavailable
	var late *serviceerror.DeadlineExceeded // the SDK's: it is no context.DeadlineExceeded
	var busy *serviceerror.ResourceExhausted
	if errors.As(err, &unavailable) || errors.As(err, &late) || errors.As(err, &busy) || errors.Is(err, context.DeadlineExceeded) {
		return &knowledge.Error{Code: knowledge.CodeUnavailable, Message: "the workflow service is not available; try again shortly", Retryable: true, RetryAfter: time.Second, Cause: err}
	}
	return err
}
