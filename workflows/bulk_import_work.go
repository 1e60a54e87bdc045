package workflows

import (
	"fmt"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// The bounds of an import.
const (
	pagesAtATime = 8   // pages that are imported at the same time
	pagesAhead   = 256 // pages that are listed and not begun, so that the total is known early
	pageTries    = 3   // of a page whose workflow ends without completing it
)

// work is a span in which an import lists pages and imports them, until it is paused,
// canceled or continued as new.
type work struct {
	*bulkImport
	ctx       workflow.Context // ends with the span
	listing   bool
	following map[int]bool // pages that a coroutine follows
	starting  int          // workflows of pages whose start is not confirmed
	changes   int          // of the state above, to wake up the main coroutine
}

// work lists pages and imports them until all is done, or the import is paused or
// canceled. It returns errContinue if the history has become long.
func (w *bulkImport) work(ctx workflow.Context) error {
	spanCtx, stop := workflow.WithCancel(ctx)
	defer stop()
	s := &work{bulkImport: w, ctx: spanCtx, following: map[int]bool{}}
	workflow.Go(spanCtx, s.reportNowAndThen)
	for {
		long := workflow.GetInfo(ctx).GetContinueAsNewSuggested() && w.moved
		if !long {
			s.start()
		}
		switch {
		case w.imported():
			return nil
		case long && !s.listing && s.starting == 0:
			return errContinue
		}
		seen := s.changes
		err := workflow.Await(ctx, func() bool { return s.changes != seen || w.Paused })
		if err == nil && !w.Paused {
			continue
		}
		stop()
		if err := workflow.Await(disconnected(ctx), func() bool { return !s.listing && len(s.following) == 0 }); err != nil {
			return err
		}
		w.Waiting, w.Open = slices.Concat(w.Open, w.Waiting), nil
		return ctx.Err()
	}
}

// start starts what may start: the listing of a page, and the workflows of pages.
func (s *work) start() {
	if !s.listing && !s.Complete && s.Failure == nil && len(s.Waiting) < pagesAhead {
		s.listing = true
		workflow.Go(s.ctx, func(ctx workflow.Context) {
			s.list(ctx)
			s.listing = false
			s.changes++
		})
	}
	for len(s.Open) < pagesAtATime && len(s.Waiting) > 0 {
		s.Open, s.Waiting = append(s.Open, s.Waiting[0]), s.Waiting[1:]
	}
	for _, page := range s.Open {
		if s.following[page.Page] {
			continue
		}
		s.following[page.Page] = true
		workflow.Go(s.ctx, func(ctx workflow.Context) {
			if s.importPage(ctx, page) {
				s.Open = slices.DeleteFunc(s.Open, func(p PageToDo) bool { return p == page })
				delete(s.Tries, page.Page)
				s.moved = true
			}
			delete(s.following, page.Page)
			s.changes++
		})
	}
}

// list lists one page.
func (s *work) list(ctx workflow.Context) {
	in := ingestion.ListInput{ImportRef: s.in.ImportRef, Page: s.Listed}
	var listed ingestion.ListResult
	options := onQueue(activityOptions(ctx, fmt.Sprintf("list page %d", s.Listed), 12*time.Hour, importRetries()), QueueBulk, 0)
	err := execute(options, s.acts.ListImportPage, in, &listed)
	switch {
	case ctx.Err() != nil:
		return // it is listed again
	case err != nil:
		f := step.Describe(err, knowledge.Failure{Code: knowledge.CodeUnavailable, Message: "the source took too long to list; try again later"})
		s.Failure = &ListFailure{Code: f.Code, Message: f.Message}
		return
	}
	if listed.Objects > 0 {
		s.Waiting = append(s.Waiting, PageToDo{Page: s.Listed, Objects: listed.Objects})
	}
	s.Listed++
	s.Complete, s.moved = listed.Last, true
}

// importPage starts the workflow of a page and follows it to its end. It reports
// whether all objects of the page have an outcome; if not, the span has ended.
func (s *work) importPage(ctx workflow.Context, page PageToDo) bool {
	for pause := time.Second; ; pause = min(2*pause, time.Minute) {
		result, err := s.runPage(ctx, page)
		switch {
		case err == nil && result.Complete:
			return true
		case err == nil && result.Again && ctx.Err() == nil:
			continue
		case ctx.Err() != nil:
			return false
		case temporal.IsWorkflowExecutionAlreadyStartedError(err):
			// The run before a continue-as-new started it. When it has ended, it is
			// started again, and finds nothing left to do.
			s.awaitPage(ctx, page)
			continue
		}
		if s.Tries[page.Page]++; s.Tries[page.Page] >= pageTries {
			return s.failPage(ctx, page)
		}
		timer := workflow.NewTimerWithOptions(ctx, pause, workflow.TimerOptions{Summary: fmt.Sprintf("try page %d again", page.Page)})
		if timer.Get(ctx, nil) != nil {
			return false
		}
	}
}

// runPage runs the workflow of a page. It does not end with the workflow of the import,
// which may continue as new.
func (s *work) runPage(ctx workflow.Context, page PageToDo) (result ImportPageResult, err error) {
	child := workflow.ExecuteChildWorkflow(workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID: s.in.PageWorkflowID(page.Page), TaskQueue: QueueBulk, ParentClosePolicy: enumspb.PARENT_CLOSE_POLICY_ABANDON,
		WorkflowTaskTimeout: pageTaskTimeout, WaitForCancellation: true, StaticSummary: fmt.Sprintf("import page %d", page.Page),
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,
		TypedSearchAttributes: workflow.GetTypedSearchAttributes(ctx),
	}), ImportPage, ImportPageInput{ImportRef: s.in.ImportRef, Run: s.in.Run, Page: page.Page, Objects: page.Objects})
	s.starting++
	err = child.GetChildWorkflowExecution().Get(ctx, nil)
	s.starting--
	s.changes++
	if err != nil {
		return result, err
	}
	err = child.Get(ctx, &result)
	return result, err
}

// pageTaskTimeout is how soon after the death of a worker another one gets the tasks
// of a page.
const pageTaskTimeout = 3 * time.Second

// awaitPage blocks until the workflow of a page has ended that another run started. When
// ctx is canceled, it cancels that workflow.
func (w *bulkImport) awaitPage(ctx workflow.Context, page PageToDo) {
	canceled := false
	for pause := 250 * time.Millisecond; ; pause = min(2*pause, 10*time.Second) {
		if ctx.Err() != nil && !canceled {
			canceled, pause = true, 250*time.Millisecond
			// It has ended if it cannot be canceled.
			_ = workflow.RequestCancelExternalWorkflow(disconnected(ctx), w.in.PageWorkflowID(page.Page), "").Get(disconnected(ctx), nil)
		}
		var running bool
		in := ingestion.PageInput{ImportRef: w.in.ImportRef, Page: page.Page}
		err := workflow.ExecuteLocalActivity(finalOptions(ctx, "see whether a page still runs"), w.acts.IsPageRunning, in).Get(disconnected(ctx), &running)
		if err != nil || !running {
			return
		}
		waiting := ctx
		if canceled {
			waiting = disconnected(ctx)
		}
		// A cancel ends the wait; the loop sees it.
		_, _ = workflow.AwaitWithTimeout(waiting, pause, func() bool { return false })
	}
}

// stopPages ends the workflows of pages that another run started, and that this one
// does not follow. Their pages are begun again later.
func (w *bulkImport) stopPages(ctx workflow.Context) {
	ending, cancel := workflow.WithCancel(disconnected(ctx))
	cancel()
	for _, page := range w.Open {
		w.awaitPage(ending, page)
	}
	w.Waiting, w.Open = slices.Concat(w.Open, w.Waiting), nil
}

// failPage stores that the objects of a page failed that have no outcome.
func (s *work) failPage(ctx workflow.Context, page PageToDo) bool {
	in := ingestion.FailBatchInput{
		ImportRef: s.in.ImportRef, Run: s.in.Run, Page: page.Page, Last: page.Objects,
		Error: knowledge.DocumentError{Code: knowledge.CodeInternal, Stage: knowledge.StageFetch, Retryable: true, Message: "the workflow of its page ended again and again; see the server's log"},
	}
	return failBatch(ctx, s.acts, in) == nil
}

// failBatch stores that objects failed whose batch failed.
func failBatch(ctx workflow.Context, acts *ingestion.Importing, in ingestion.FailBatchInput) error {
	options := onQueue(activityOptions(disconnected(ctx), "note what failed", 10*time.Minute, endlessRetries()), QueueBulk, 0)
	return workflow.ExecuteActivity(options, acts.FailImportBatch, in).Get(ctx, nil)
}

// importRetries is the retry policy of steps on a source or a model, which may be down
// for an hour.
func importRetries() *temporal.RetryPolicy {
	return &temporal.RetryPolicy{InitialInterval: 250 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: time.Minute, MaximumAttempts: 60}
}
