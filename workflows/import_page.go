package workflows

import (
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// The bounds of a page.
const (
	batchSize      = 50 // objects of one step
	batchesAtATime = 4
	largeSize      = 4 // large objects of one step
)

// ImportPageInput starts the import of a page.
type ImportPageInput struct {
	knowledge.ImportRef
	Run     string `json:"run"`
	Page    int    `json:"page"`
	Objects int    `json:"objects"`
}

// ImportPageResult reports whether all objects of the page have an outcome. Again reports
// that the page is to be started again, because its history has become long.
type ImportPageResult struct {
	Complete bool `json:"complete"`
	Again    bool `json:"again,omitempty"`
}

// SignalPage is the signal of ImportPage that ends the waits for a held provider:
// PageRelease.
const SignalPage = "import_page_release"

// PageRelease ends the waits of the steps of a page. With Now somebody asked for it, so the
// provider is asked at once; else it takes requests again.
type PageRelease struct {
	Now bool `json:"now,omitempty"`
}

// ImportPage imports the objects of a page, batch by batch. Objects that take long are
// imported by steps of their own. After a cancel it ends without completing the page;
// started again, it imports what is left.
func ImportPage(ctx workflow.Context, in ImportPageInput) (ImportPageResult, error) {
	w := &importPage{in: in, batches: workflow.NewSemaphore(ctx, batchesAtATime), large: workflow.NewSemaphore(ctx, batchesAtATime), group: workflow.NewWaitGroup(ctx)}
	drainOnSignal(disconnected(ctx), SignalPage, w.drain)
	for first := 0; first < in.Objects; first += batchSize {
		if w.batches.Acquire(ctx, 1) != nil || w.err != nil || w.again {
			break
		}
		last := min(first+batchSize, in.Objects)
		w.group.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer w.group.Done()
			w.batch(ctx, first, last)
			w.batches.Release(1)
		})
	}
	w.group.Wait(disconnected(ctx))
	if w.err != nil {
		return ImportPageResult{}, w.err
	}
	return ImportPageResult{Complete: ctx.Err() == nil && !w.again, Again: w.again}, nil
}

// importPage is the state of ImportPage.
type importPage struct {
	in      ImportPageInput
	batches workflow.Semaphore
	large   workflow.Semaphore
	group   workflow.WaitGroup
	err     error // a batch has neither an outcome nor could its failure be stored
	acts    *ingestion.Importing

	releases int  // signals that ended waits
	asked    int  // of these, by somebody who wants the provider asked at once
	again    bool // the history is too long for more waits
}

// drain receives every waiting signal.
func (w *importPage) drain(ctx workflow.Context) {
	for {
		var r PageRelease
		if !workflow.GetSignalChannel(ctx, SignalPage).ReceiveAsync(&r) {
			return
		}
		if w.releases++; r.Now {
			w.asked++
		}
	}
}

// errAgain leaves the objects of a step to the next run of the page.
var errAgain = errors.New("the page is started again")

// whileHeld runs a step again and again while its provider is held. It waits in between as
// the step asks for, or until a signal comes. The waits count for no try of the step, but a
// provider that has refused requests for retryTime fails it.
func (w *importPage) whileHeld(ctx workflow.Context, run func(turn ingestion.StepTurn) error) error {
	turn, since := ingestion.StepTurn{Waits: true}, time.Time{}
	for {
		releases, asked := w.releases, w.asked
		err := run(turn)
		held, ok := errors.AsType[*temporal.ApplicationError](err)
		if !ok || !held.NonRetryable() || !step.IsHeld(err) || ctx.Err() != nil { // older activities let Temporal wait
			return err
		}
		if since.IsZero() {
			since = workflow.Now(ctx)
		}
		if step.IsProbe(err) && workflow.Now(ctx).Sub(since) > retryTime {
			return err
		}
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			w.again = true
			return errAgain
		}
		_, awaitErr := workflow.AwaitWithOptions(ctx, workflow.AwaitOptions{
			Timeout: held.NextRetryDelay(), TimerOptions: workflow.TimerOptions{Summary: "wait for the provider"},
		}, func() bool { return w.releases > releases })
		if awaitErr != nil {
			return awaitErr
		}
		turn.Waited, turn.Now = true, w.asked > asked
	}
}

// batch imports the objects [first, last), and starts the steps of those that take
// long.
func (w *importPage) batch(ctx workflow.Context, first, last int) {
	in := ingestion.BatchInput{ImportRef: w.in.ImportRef, Run: w.in.Run, Page: w.in.Page, First: first, Last: last}
	var result ingestion.BatchResult
	summary := fmt.Sprintf("import objects %d-%d", first, last-1)
	err := w.whileHeld(ctx, func(turn ingestion.StepTurn) error {
		in.StepTurn = turn
		return execute(stepOptions(ctx, summary, QueueBulk, time.Hour), w.acts.ImportBatch, in, &result)
	})
	w.settle(ctx, err, ingestion.FailBatchInput{First: first, Last: last})
	for len(result.Large) > 0 && ctx.Err() == nil {
		n := min(largeSize, len(result.Large))
		objects := result.Large[:n]
		result.Large = result.Large[n:]
		w.group.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer w.group.Done()
			if w.large.Acquire(ctx, 1) == nil {
				if !w.again {
					w.slow(ctx, objects)
				}
				w.large.Release(1)
			}
		})
	}
}

// slow imports objects that take long.
func (w *importPage) slow(ctx workflow.Context, objects []int) {
	in := ingestion.LargeInput{ImportRef: w.in.ImportRef, Run: w.in.Run, Page: w.in.Page, Objects: objects}
	summary := fmt.Sprintf("import %d large objects from %d on", len(objects), objects[0])
	err := w.whileHeld(ctx, func(turn ingestion.StepTurn) error {
		in.StepTurn = turn
		return execute(stepOptions(ctx, summary, QueueBulkLarge, 12*time.Hour), w.acts.ImportLarge, in, nil)
	})
	w.settle(ctx, err, ingestion.FailBatchInput{Objects: objects})
}

// settle stores the failure of a step, unless the page was canceled: every object gets
// an outcome.
func (w *importPage) settle(ctx workflow.Context, err error, in ingestion.FailBatchInput) {
	if err == nil || ctx.Err() != nil || errors.Is(err, errAgain) {
		return
	}
	f := step.Describe(err, knowledge.Failure{Code: knowledge.CodeUnavailable, Message: "the step took too long; retry what failed", Retryable: true})
	in.ImportRef, in.Run, in.Page = w.in.ImportRef, w.in.Run, w.in.Page
	in.Error = knowledge.DocumentError{Code: f.Code, Stage: f.Stage, Message: f.Message, Retryable: true}
	if failed := failBatch(ctx, w.acts, in); failed != nil && w.err == nil {
		w.err = failed
	}
}

// stepOptions returns the options of a step that imports objects. It may wait for a
// provider that limits requests.
func stepOptions(ctx workflow.Context, summary, queue string, limit time.Duration) workflow.Context {
	options := onQueue(activityOptions(ctx, summary, limit, importRetries()), queue, 0)
	return workflow.WithScheduleToCloseTimeout(options, retryTime)
}
