package workflows

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// The workflow waits between the tries of a step itself: Temporal would not show
// readers why a document waits, and would not end the wait when somebody asks.

const (
	// retryTime bounds the tries of a step. A provider may ask for a pause of a day
	// before each of them.
	retryTime = 72 * time.Hour
	// shownWait is the shortest wait that readers are shown.
	shownWait = time.Second
	// listedWait is the shortest wait that the search attributes tell of. Each change of
	// them is an event of the history and a write.
	listedWait = 10 * time.Second
	// statusWaiting is the value of CairnStatus meanwhile.
	statusWaiting = "waiting"
)

// tries is the state of a step between two tries.
type tries struct {
	since  time.Time // the first failure
	failed int
	held   bool // the last try was held back by the pace of the provider
	now    bool // somebody asked for the next try
}

// retry runs a step of the version until it succeeds, or fails in a way that no retry
// can help, or has used up its tries. It returns errContinue if the history has become
// long while it embeds: the next run resumes the tries.
func (w *ingest) retry(ctx workflow.Context, policy *temporal.RetryPolicy, try func(t tries) error) error {
	t := w.earlier
	for {
		err := try(t)
		if err == nil {
			w.earlier = tries{}
			return w.unlist(ctx)
		}
		if ctx.Err() != nil || !mayRetry(err) {
			return err
		}
		if t.since.IsZero() {
			t.since = workflow.Now(ctx)
		}
		if t.held = step.IsHeld(err); !t.held {
			t.failed++
		}
		pause := retryPause(policy, t.failed, err)
		late := workflow.Now(ctx).Add(pause).Sub(t.since) > retryTime
		if !t.held && (late || t.failed >= int(policy.MaximumAttempts)) || step.IsProbe(err) && late {
			return err
		}
		if w.stage == knowledge.StageEmbed && workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			w.earlier = tries{since: t.since, failed: max(t.failed, w.earlier.failed)}
			return errContinue
		}
		if err := w.listWait(ctx, pause); err != nil {
			return err
		}
		if t.now, err = w.wait(ctx, t, policy, pause, err); err != nil {
			return err
		}
	}
}

// mayRetry reports whether another try of a step can help.
func mayRetry(err error) bool {
	if application, ok := errors.AsType[*temporal.ApplicationError](err); ok && application.NonRetryable() {
		return false
	}
	return !temporal.IsCanceledError(err)
}

// retryPause returns the wait before the next try: as the failure asks for, or longer
// with each failed try.
func retryPause(policy *temporal.RetryPolicy, failed int, err error) time.Duration {
	if application, ok := errors.AsType[*temporal.ApplicationError](err); ok && application.NextRetryDelay() > 0 {
		return application.NextRetryDelay()
	}
	pause := float64(policy.InitialInterval) * math.Pow(policy.BackoffCoefficient, float64(failed-1))
	return time.Duration(min(pause, float64(policy.MaximumInterval)))
}

// wait waits for the next try, and shows readers why and until when. asked is true if a
// retry signal ended the wait.
func (w *ingest) wait(ctx workflow.Context, t tries, policy *temporal.RetryPolicy, pause time.Duration, cause error) (asked bool, err error) {
	if pause >= shownWait {
		f := step.DescribeStep(cause, w.timeoutFailure())
		shown := &knowledge.Waiting{
			Since: t.since, Attempt: t.failed, Of: int(policy.MaximumAttempts), NextAt: workflow.Now(ctx).Add(pause), Code: f.Code, Message: f.Message,
		}
		w.waits = append(w.waits, shown)
		w.showWaiting(ctx)
		defer func() {
			w.waits = slices.DeleteFunc(w.waits, func(other *knowledge.Waiting) bool { return other == shown })
			w.showWaiting(ctx)
		}()
	}
	signals := w.retrySignals
	return workflow.AwaitWithOptions(ctx, workflow.AwaitOptions{
		Timeout: pause, TimerOptions: workflow.TimerOptions{Summary: "wait for the next try"},
	}, func() bool { return w.retrySignals > signals })
}

// listWait writes to the search attributes that the stage waits, before the first long
// wait.
func (w *ingest) listWait(ctx workflow.Context, pause time.Duration) error {
	if pause < listedWait || w.listed || !w.in.ListWaits {
		return nil
	}
	w.listed = true
	if err := workflow.UpsertTypedSearchAttributes(ctx, KeyStatus.ValueSet(statusWaiting), KeyStage.ValueSet(string(w.stage))); err != nil {
		return fmt.Errorf("set status: %w", err)
	}
	return nil
}

// unlist removes the status of an earlier wait or version from the search attributes,
// unless another step still waits.
func (w *ingest) unlist(ctx workflow.Context) error {
	if !w.listed || !w.in.ListWaits || len(w.waits) > 0 {
		return nil
	}
	w.listed = false
	if err := workflow.UpsertTypedSearchAttributes(ctx, KeyStatus.ValueUnset()); err != nil {
		return fmt.Errorf("set status: %w", err)
	}
	return nil
}

// showWaiting shows readers the step that tries next, if a step waits. One coroutine
// at a time does so; it sees what others change meanwhile.
func (w *ingest) showWaiting(ctx workflow.Context) {
	if w.showing {
		return
	}
	w.showing = true
	defer func() { w.showing = false }()
	for next := w.nextWait(); next != w.shown; next = w.nextWait() {
		w.shown = next
		w.addProgress(ctx)
		w.setDetails(ctx)
		noting := onceOptions(disconnected(ctx), "note the wait")
		// Readers who miss it see the stage without it.
		_ = workflow.ExecuteLocalActivity(noting, w.acts.NoteWaiting, ingestion.WaitingInput{StepInput: w.step(), Waiting: next}).Get(noting, nil)
	}
}

// nextWait returns the wait that ends first, nil if no step waits.
func (w *ingest) nextWait() (next *knowledge.Waiting) {
	for _, wait := range w.waits {
		if next == nil || wait.NextAt.Before(next.NextAt) {
			next = wait
		}
	}
	return next
}
