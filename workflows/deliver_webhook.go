package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/delivery"
)

// SignalWake is the signal of DeliverWebhook that there is a new event.
const SignalWake = "wake"

// deliveryLimit bounds one activity of DeliverWebhook, which lasts for some seconds
// and the time-out of a request.
const deliveryLimit = 5 * time.Minute

// DeliverWebhookID returns the id of the workflow that delivers to a webhook.
func DeliverWebhookID(workspace, webhook string) string {
	return "webhook/" + workspace + "/" + webhook
}

// DeliverWebhook delivers the events of one webhook, until none is pending. SQL holds
// the events, their order and the time of each attempt; the workflow sees to it that
// somebody makes the attempts, whatever dies. It rests until the next one is due, or
// until it is woken for a new event.
func DeliverWebhook(ctx workflow.Context, in delivery.DeliverInput) error {
	woken := workflow.GetSignalChannel(ctx, SignalWake)
	for {
		drainSignals(woken)
		result, err := deliverDue(ctx, in)
		if err != nil {
			return err
		}
		if result.Rests && !drainSignals(woken) {
			if result.NextAt.IsZero() {
				return nil
			}
			if err := rest(ctx, woken, result.NextAt); err != nil {
				return err
			}
		}
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			return workflow.NewContinueAsNewError(ctx, DeliverWebhook, in) // it begins by delivering, so no signal is needed
		}
	}
}

func deliverDue(ctx workflow.Context, in delivery.DeliverInput) (result delivery.DeliverResult, err error) {
	const summary = "deliver events"
	workflow.SetCurrentDetails(ctx, summary)
	var acts *delivery.Delivering
	options := activityOptions(ctx, summary, deliveryLimit, endlessRetries())
	err = workflow.ExecuteActivity(options, acts.DeliverWebhooks, in).Get(ctx, &result)
	return result, err
}

// rest blocks until a time, or until the workflow is woken.
func rest(ctx workflow.Context, woken workflow.ReceiveChannel, until time.Time) error {
	workflow.SetCurrentDetails(ctx, "the next attempt is at "+until.UTC().Format(time.RFC3339))
	timing, stop := workflow.WithCancel(ctx)
	defer stop()
	timer := workflow.NewTimerWithOptions(timing, until.Sub(workflow.Now(ctx)), workflow.TimerOptions{Summary: "wait for the next attempt"})
	var err error
	workflow.NewSelector(ctx).
		AddFuture(timer, func(f workflow.Future) { err = f.Get(ctx, nil) }).
		AddReceive(woken, func(c workflow.ReceiveChannel, _ bool) { drainSignals(c) }).
		Select(ctx)
	return err
}

// drainSignals receives all signals that have come. It reports whether there were any.
func drainSignals(signals workflow.ReceiveChannel) (some bool) {
	for signals.ReceiveAsync(nil) {
		some = true
	}
	return some
}
