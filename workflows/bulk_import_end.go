package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
)

// The time between two reports of a span of work: the first, and the longest.
const (
	firstReport   = 2 * time.Second
	longestReport = 30 * time.Second
)

// reportNowAndThen reports the progress until the span ends, at growing intervals, so
// that a long import has a short history.
func (s *work) reportNowAndThen(ctx workflow.Context) {
	for pause := firstReport; ; pause = min(2*pause, longestReport) {
		timer := workflow.NewTimerWithOptions(ctx, pause, workflow.TimerOptions{Summary: "until the next report"})
		if timer.Get(ctx, nil) != nil {
			return
		}
		s.report(ctx)
	}
}

// report reads the counters and reports them to the readers of the log and to the
// operator, unless they are the same as before.
func (w *bulkImport) report(ctx workflow.Context) {
	var p record.ImportProgress
	err := workflow.ExecuteLocalActivity(finalOptions(ctx, "read the counters"), w.acts.ImportProgress, w.in.ImportRef).Get(disconnected(ctx), &p)
	if err != nil || p.Same(w.last) {
		return // the next report has them
	}
	w.last = p
	w.log.add(stream.TopicImport, stream.Event{Data: stream.Data(p)})
	workflow.SetCurrentDetails(ctx, fmt.Sprintf("| status | pages listed | open | discovered | published | skipped | failed |\n|---|---|---|---|---|---|---|\n| %s | %d | %d | %d | %d | %d | %d |",
		p.Status, w.Listed, len(w.Open), p.Discovered, p.Published, p.Skipped, p.Failed))
}

// vanished counts the objects that are no longer in the source, and removes their
// documents if the request asks for it. A listing that failed shows nothing.
func (w *bulkImport) vanished(ctx workflow.Context) error {
	if w.Failure != nil {
		return nil
	}
	options := onQueue(activityOptions(ctx, "look for what vanished", 12*time.Hour, endlessRetries()), QueueBulk, 0)
	return workflow.ExecuteActivity(options, w.acts.SettleVanished, w.in.ImportRef).Get(ctx, nil)
}

// retry starts an ingestion for each object that failed, and blocks until they have
// ended. done is false if the import was paused meanwhile.
func (w *bulkImport) retry(ctx workflow.Context) (done bool, err error) {
	spanCtx, stop := workflow.WithCancel(ctx)
	defer stop()
	ended := false
	workflow.Go(spanCtx, func(ctx workflow.Context) {
		err = w.retryFailed(ctx)
		ended = true
	})
	if awaitErr := workflow.Await(ctx, func() bool { return ended || w.Paused }); awaitErr == nil && ended {
		return err == nil, err
	}
	stop()
	if awaitErr := workflow.Await(disconnected(ctx), func() bool { return ended }); awaitErr != nil {
		return false, awaitErr
	}
	return false, ctx.Err()
}

func (w *bulkImport) retryFailed(ctx workflow.Context) error {
	options := onQueue(activityOptions(ctx, "retry what failed", 12*time.Hour, endlessRetries()), QueueBulk, 0)
	if err := workflow.ExecuteActivity(options, w.acts.RetryFailed, ingestion.RetryInput{ImportRef: w.in.ImportRef, Run: w.in.Run}).Get(ctx, nil); err != nil {
		return err
	}
	for pause := 500 * time.Millisecond; ; pause = min(2*pause, time.Minute) {
		var left int
		err := workflow.ExecuteLocalActivity(finalOptions(ctx, "settle what was retried"), w.acts.SettleRetried, w.in.ImportRef).Get(ctx, &left)
		if err != nil || left == 0 {
			return err
		}
		w.report(ctx)
		timer := workflow.NewTimerWithOptions(ctx, pause, workflow.TimerOptions{Summary: "wait for the retried documents"})
		if err := timer.Get(ctx, nil); err != nil {
			return err
		}
	}
}

// finish writes the end of the import in SQL, in the stored log and in the workflow's
// log, and then deletes the lists of its objects.
func (w *bulkImport) finish(ctx workflow.Context, err error) error {
	err = canceled(ctx, err)
	ctx = disconnected(ctx)
	w.report(ctx)
	ending := record.Ending{Kind: knowledge.KindImport}
	switch {
	case err != nil:
		ending = record.Failed(knowledge.KindImport, step.Describe(err, knowledge.Failure{Code: knowledge.CodeUnavailable, Message: "the import took too long"}))
	case w.Failure != nil:
		ending = record.Failed(knowledge.KindImport, knowledge.Failure{Code: w.Failure.Code, Message: w.Failure.Message})
	}
	in := ingestion.FinishImportInput{ImportRef: w.in.ImportRef, Run: w.in.Run, Error: ending.Error, Segments: w.Segments, Items: w.log.itemsWith(0, ending)}
	if err := setStatusAttribute(ctx, ending.Status()); err != nil {
		return err
	}
	if err := workflow.ExecuteLocalActivity(finalOptions(ctx, "finish"), w.acts.FinishImport, in).Get(ctx, nil); err != nil {
		return fmt.Errorf("finish run %s: %w", w.in.Run, err)
	}
	w.log.end(ending)
	w.log.close(ctx)
	// Lists that cannot be deleted stay with the import, and do no harm.
	options := onQueue(activityOptions(ctx, "delete the lists of objects", time.Hour, storeRetries()), QueueBulk, 0)
	_ = workflow.ExecuteActivity(options, w.acts.CleanImport, w.in.ImportRef).Get(ctx, nil)
	return nil
}
