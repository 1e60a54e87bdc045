package workflows

import (
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// heartbeatTimeout is how soon after the death of a worker Temporal repeats its
// activities.
const heartbeatTimeout = 3 * time.Second

// priorityFinishing is the priority of steps that complete a document. They pass
// earlier steps of other documents. 1 is the most urgent, 5 the least.
const priorityFinishing = 2

// onQueue returns a context whose activities run on another task queue. Priority 0
// is the priority of the workflow.
func onQueue(ctx workflow.Context, queue string, priority int) workflow.Context {
	ctx = workflow.WithTaskQueue(ctx, queue)
	return workflow.WithPriority(ctx, temporal.Priority{PriorityKey: priority})
}

// storeRetries is the retry policy of steps that use only Cairn's own stores.
func storeRetries() *temporal.RetryPolicy {
	return &temporal.RetryPolicy{
		InitialInterval: 200 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: 10 * time.Second, MaximumAttempts: 8,
	}
}

// localOptions returns a context with the options of a local activity that ends
// within some 50 ms and may run twice. Time in the queue does not count: without
// ScheduleToCloseTimeout the SDK measures StartToCloseTimeout from scheduling.
func localOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: localTimeout, ScheduleToCloseTimeout: forever, RetryPolicy: storeRetries(), Summary: summary,
	})
}

// localStep runs a local activity to its end, which a cancel waits for: the SDK
// returns from a canceled local activity while it still runs, and a removal would
// delete blobs beside a step that writes them.
func localStep(ctx workflow.Context, summary string, step, in, result any) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	running := disconnected(ctx)
	return workflow.ExecuteLocalActivity(localOptions(running, summary), step, in).Get(running, result)
}

// localTimeout bounds one attempt of a local activity, which takes milliseconds on
// an idle machine.
const localTimeout = 2 * time.Minute

// finalOptions returns a context with the options of the local activity that
// writes the end of a run. Temporal retries it until it succeeds, because the
// completed work is stored nowhere else. It may run twice, and no cancel stops it.
func finalOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithLocalActivityOptions(disconnected(ctx), workflow.LocalActivityOptions{
		StartToCloseTimeout: localTimeout, ScheduleToCloseTimeout: forever, RetryPolicy: endlessRetries(), Summary: summary,
	})
}

// onceOptions returns a context with the options of a local activity that is not
// retried, and not waited for for long.
func onceOptions(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: 10 * time.Second, ScheduleToCloseTimeout: forever, RetryPolicy: once(), Summary: summary,
	})
}

// once is the retry policy of an activity that Temporal does not retry, because the
// workflow does.
func once() *temporal.RetryPolicy { return &temporal.RetryPolicy{MaximumAttempts: 1} }

// forever is longer than any run.
const forever = 10 * 365 * 24 * time.Hour

// endlessRetries is the retry policy of steps that must succeed in the end, however
// long an outage lasts.
func endlessRetries() *temporal.RetryPolicy {
	return &temporal.RetryPolicy{InitialInterval: 250 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: 5 * time.Minute}
}

// activityOptions returns a context with the options of an activity. limit bounds
// one attempt, and retries bounds the attempts. If the number of attempts is
// bounded, the death of a process does not count as one: Temporal does not retry
// it, and execute repeats the activity.
func activityOptions(ctx workflow.Context, summary string, limit time.Duration, retries *temporal.RetryPolicy) workflow.Context {
	if retries.MaximumAttempts > 0 {
		retries.NonRetryableErrorTypes = []string{step.TypeEnded, "TemporalTimeout:Heartbeat"}
	}
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: limit, HeartbeatTimeout: heartbeatTimeout, RetryPolicy: retries, Summary: summary,
		WaitForCancellation: true,
	})
}

// maxDeaths is how often a step is repeated because the process that ran it ended.
// It is bounded, because the step itself may be the cause.
const maxDeaths = 20

// execute runs an activity with the options of activityOptions, and repeats it
// when the process that ran it ended.
func execute(ctx workflow.Context, step, in, result any) error {
	return repeatAfterDeath(ctx, func(int) error { return workflow.ExecuteActivity(ctx, step, in).Get(ctx, result) })
}

// repeatAfterDeath repeats a step, up to maxDeaths times, while the process that
// ran it ended. Temporal retries all other failures. deaths is how many processes
// ended before.
func repeatAfterDeath(ctx workflow.Context, attempt func(deaths int) error) error {
	for deaths := range maxDeaths {
		if err := attempt(deaths); !processEnded(err) || ctx.Err() != nil {
			return err
		}
	}
	return temporal.NewNonRetryableApplicationError("the server's process ended each time it ran this step; see its log",
		string(knowledge.CodeUnavailable), nil, step.ErrorDetails{Code: knowledge.CodeUnavailable, Retryable: true})
}

// processEnded reports whether an activity failed only because the process that
// ran it ended, and Temporal did not retry it. In histories from before this rule
// Temporal did.
func processEnded(err error) bool {
	failed, ok := errors.AsType[*temporal.ActivityError](err)
	if !ok || failed.RetryState() != enumspb.RETRY_STATE_NON_RETRYABLE_FAILURE {
		return false
	}
	if timeout, ok := errors.AsType[*temporal.TimeoutError](err); ok {
		return timeout.TimeoutType() == enumspb.TIMEOUT_TYPE_HEARTBEAT
	}
	application, ok := errors.AsType[*temporal.ApplicationError](err)
	return ok && application.Type() == step.TypeEnded
}

// disconnected returns a context that no cancel of ctx ends, for steps that run
// although the run was canceled.
func disconnected(ctx workflow.Context) workflow.Context {
	d, _ := workflow.NewDisconnectedContext(ctx)
	return d
}

// canceled returns the error of ctx instead of err if ctx was canceled. After a
// cancel Temporal retries nothing, so an attempt whose worker died ends as a
// time-out or a failure.
func canceled(ctx workflow.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// setStatusAttribute writes the status of a run that failed or was canceled to the
// search attribute, and more beside it, so that an operator finds it: its workflow
// completes. Temporal's own status is enough for a run that completed.
func setStatusAttribute(ctx workflow.Context, status knowledge.RunStatus, more ...temporal.SearchAttributeUpdate) error {
	if status == knowledge.RunCompleted {
		return nil
	}
	if err := workflow.UpsertTypedSearchAttributes(ctx, append(more, KeyStatus.ValueSet(string(status)))...); err != nil {
		return fmt.Errorf("set status: %w", err)
	}
	return nil
}
