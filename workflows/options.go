package workflows

import (
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// heartbeatTimeout is how soon after a worker's death its activities are given
// to another.
const heartbeatTimeout = 3 * time.Second

// waitForParser bounds an extraction. The parsers hold each document to its own
// time; the rest is for those that are before it. Heartbeats tell of a dead
// worker long before.
const waitForParser = 3 * time.Hour

// storeRetries are for steps that touch only our own stores.
func storeRetries() *temporal.RetryPolicy {
	return &temporal.RetryPolicy{
		InitialInterval: 200 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: 10 * time.Second, MaximumAttempts: 8,
	}
}

// local sets the options of steps that end within some 50 ms and may run twice.
func local(ctx workflow.Context, summary string) workflow.Context {
	return workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: 30 * time.Second, RetryPolicy: storeRetries(), Summary: summary,
	})
}

// regular sets the options of steps that take their time: limit bounds one
// attempt, retries bound how often it is tried.
func regular(ctx workflow.Context, summary string, limit time.Duration, retries *temporal.RetryPolicy) workflow.Context {
	return workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: limit, HeartbeatTimeout: heartbeatTimeout, RetryPolicy: retries, Summary: summary,
		WaitForCancellation: true,
	})
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
func noteStatus(ctx workflow.Context, status string) error {
	if status == "completed" {
		return nil
	}
	if err := workflow.UpsertTypedSearchAttributes(ctx, KeyStatus.ValueSet(status)); err != nil {
		return fmt.Errorf("set status: %w", err)
	}
	return nil
}
