package workflows

import (
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// heartbeatTimeout is how soon after a worker's death its activities are given
// to another.
const heartbeatTimeout = 3 * time.Second

// priorityFinishing is that of steps which end what was begun: they pass the
// steps of documents that come after. 1 is the most urgent, 5 the least.
const priorityFinishing = 2

// onQueue sends the activities of ctx to another task queue. A priority of 0 is
// the workflow's own.
func onQueue(ctx workflow.Context, queue string, priority int) workflow.Context {
	ctx = workflow.WithTaskQueue(ctx, queue)
	return workflow.WithPriority(ctx, temporal.Priority{PriorityKey: priority})
}

// storeRetries are for steps that touch only our own stores.
func storeRetries() *temporal.RetryPolicy {
	return &temporal.RetryPolicy{
		InitialInterval: 200 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: 10 * time.Second, MaximumAttempts: 8,
	}
}

// local sets the options of steps that end within some 50 ms and may run twice.
// Time in the queue does not count: without ScheduleToCloseTimeout the SDK counts
// StartToCloseTimeout from the moment of scheduling.
func local(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: localTimeout, ScheduleToCloseTimeout: forever, RetryPolicy: storeRetries(), Summary: summary,
	})
}

// localTimeout bounds one try of a step that takes milliseconds on an idle
// machine.
const localTimeout = 2 * time.Minute

// final sets the options of the step that writes a run's end: it is tried until
// it succeeds, because what was paid for and shown stands nowhere else. It may
// run twice.
func final(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithLocalActivityOptions(disconnected(ctx), workflow.LocalActivityOptions{
		StartToCloseTimeout: localTimeout, ScheduleToCloseTimeout: forever, RetryPolicy: endlessRetries(), Summary: summary,
	})
}

// forever is longer than any run.
const forever = 10 * 365 * 24 * time.Hour

// endlessRetries are for what must be done in the end, whatever is down.
func endlessRetries() *temporal.RetryPolicy {
	return &temporal.RetryPolicy{InitialInterval: 250 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: 5 * time.Minute}
}

// regular sets the options of steps that take their time: limit bounds one
// attempt, retries bound how often it is tried. Where they are bounded, the death
// of the process that ran an attempt is none of them: execute begins anew.
func regular(ctx workflow.Context, summary string, limit time.Duration, retries *temporal.RetryPolicy) workflow.Context {
	if retries.MaximumAttempts > 0 {
		retries.NonRetryableErrorTypes = []string{activities.TypeEnded, "TemporalTimeout:Heartbeat"}
	}
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: limit, HeartbeatTimeout: heartbeatTimeout, RetryPolicy: retries, Summary: summary,
		WaitForCancellation: true,
	})
}

// maxDeaths is how often a step is begun anew because the process that ran it
// ended. It is bounded, because the step itself may be what ends the process.
const maxDeaths = 20

// execute runs a step, with the options of regular.
func execute(ctx workflow.Context, step, in, result any) error {
	return outlive(ctx, func(int) error { return workflow.ExecuteActivity(ctx, step, in).Get(ctx, result) })
}

// outlive runs a step until no process that ran it has ended: what fails is
// tried again by Temporal, as often as its retries say. step is told how often
// it was begun before.
func outlive(ctx workflow.Context, step func(deaths int) error) error {
	for deaths := range maxDeaths {
		if err := step(deaths); !processEnded(err) || ctx.Err() != nil {
			return err
		}
	}
	return temporal.NewApplicationError("the server's process ended each time it ran this step; see its log", string(knowledge.CodeUnavailable))
}

// processEnded reports whether an activity failed only because the process that
// ran it is gone. Temporal must have left it to us: an activity from before this
// rule was tried again by its retries.
func processEnded(err error) bool {
	failed, ok := errors.AsType[*temporal.ActivityError](err)
	if !ok || failed.RetryState() != enumspb.RETRY_STATE_NON_RETRYABLE_FAILURE {
		return false
	}
	if timeout, ok := errors.AsType[*temporal.TimeoutError](err); ok {
		return timeout.TimeoutType() == enumspb.TIMEOUT_TYPE_HEARTBEAT
	}
	application, ok := errors.AsType[*temporal.ApplicationError](err)
	return ok && application.Type() == activities.TypeEnded
}

// disconnected gives a context in which the end of a run is written although
// the run was canceled.
func disconnected(ctx workflow.Context) workflow.Context {
	d, _ := workflow.NewDisconnectedContext(ctx)
	return d
}

// canceled gives an error that came after a cancel for what it is. Once a cancel
// was asked for Temporal tries nothing again, so an attempt whose worker died
// shows as a time-out or a failure.
func canceled(ctx workflow.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// noteStatus lets an operator find runs that did not end well: their workflow
// completes, because it wrote that end down. One that ended well is told by
// Temporal's own status, without a write of its own.
func noteStatus(ctx workflow.Context, status knowledge.RunStatus) error {
	if status == knowledge.RunCompleted {
		return nil
	}
	if err := workflow.UpsertTypedSearchAttributes(ctx, KeyStatus.ValueSet(string(status))); err != nil {
		return fmt.Errorf("set status: %w", err)
	}
	return nil
}
