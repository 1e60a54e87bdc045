package dispatch

import (
	"context"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	failurepb "go.temporal.io/api/failure/v1"
	historypb "go.temporal.io/api/history/v1"
	workflowpb "go.temporal.io/api/workflow/v1"
	"go.temporal.io/sdk/converter"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
)

const (
	maxSteps  = 1000 // that Steps returns
	maxChains = 20   // executions of a workflow that continued as new, of which Steps reads
)

// Steps returns the activities of a workflow, oldest first, up to the newest 1,000. There are
// none if Temporal no longer has the workflow's history.
func (d *Dispatcher) Steps(ctx context.Context, workflowID string) ([]record.Step, error) {
	description, err := d.client.DescribeWorkflowExecution(ctx, workflowID, "")
	if isMissing(err) {
		return nil, nil
	}
	if err != nil {
		return nil, wrap(err, "describe", workflowID)
	}
	var all []record.Step
	pending := description.GetPendingActivities()
	run := description.GetWorkflowExecutionInfo().GetExecution().GetRunId()
	for range maxChains {
		read := stepReader{payloads: d.reads, byEvent: map[int64]int{}}
		events := d.client.GetWorkflowHistory(ctx, workflowID, run, false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT)
		run = ""
		for events.HasNext() {
			e, err := events.Next()
			if isMissing(err) {
				break
			}
			if err != nil {
				return nil, wrap(err, "read the history of", workflowID)
			}
			if begins := e.GetWorkflowExecutionStartedEventAttributes(); begins != nil {
				run = begins.GetContinuedExecutionRunId()
			}
			read.add(e)
		}
		read.addPending(pending)
		pending = nil // earlier executions have ended
		if all = slices.Concat(read.steps, all); run == "" || len(all) >= maxSteps {
			break
		}
	}
	return all[max(0, len(all)-maxSteps):], nil
}

// stepReader makes steps of the events of a history.
type stepReader struct {
	payloads converter.DataConverter
	steps    []record.Step
	ids      []string      // of the activities, in the order of steps
	byEvent  map[int64]int // the event that scheduled an activity -> its place in steps
}

func (r *stepReader) add(e *historypb.HistoryEvent) {
	at := e.GetEventTime().AsTime()
	if asked := e.GetActivityTaskScheduledEventAttributes(); asked != nil {
		step := record.Step{Activity: asked.GetActivityType().GetName(), Began: at, Status: knowledge.RunRunning}
		if summary := e.GetUserMetadata().GetSummary(); summary == nil || r.payloads.FromPayload(summary, &step.Name) != nil {
			step.Name = step.Activity
		}
		r.byEvent[e.GetEventId()] = len(r.steps)
		r.steps, r.ids = append(r.steps, step), append(r.ids, asked.GetActivityId())
		return
	}
	if started := e.GetActivityTaskStartedEventAttributes(); started != nil {
		if step := r.of(started.GetScheduledEventId()); step != nil {
			step.Started, step.Attempts, step.Cause = at, int(started.GetAttempt()), causeOf(started.GetLastFailure())
		}
		return
	}
	var step *record.Step
	status := knowledge.RunFailed
	var failure *failurepb.Failure
	if done := e.GetActivityTaskCompletedEventAttributes(); done != nil {
		step, status = r.of(done.GetScheduledEventId()), knowledge.RunCompleted
		var result struct{ Usage knowledge.Usage }
		// A result that is no object has no usage.
		if r.payloads.FromPayloads(done.GetResult(), &result) == nil && step != nil {
			step.Usage = result.Usage
		}
	} else if failed := e.GetActivityTaskFailedEventAttributes(); failed != nil {
		step, failure = r.of(failed.GetScheduledEventId()), failed.GetFailure()
	} else if late := e.GetActivityTaskTimedOutEventAttributes(); late != nil {
		step, failure = r.of(late.GetScheduledEventId()), late.GetFailure()
	} else if canceled := e.GetActivityTaskCanceledEventAttributes(); canceled != nil {
		step, status = r.of(canceled.GetScheduledEventId()), knowledge.RunCanceled
	}
	if step == nil {
		return
	}
	step.Ended, step.Status = at, status
	if failure != nil {
		step.Cause = causeOf(failure)
	}
}

// of returns the step that an event scheduled, nil if there is none.
func (r *stepReader) of(event int64) *record.Step {
	if at, ok := r.byEvent[event]; ok {
		return &r.steps[at]
	}
	return nil
}

// addPending adds to the steps what Temporal knows of the activities that have not ended: they
// have only the event that scheduled them.
func (r *stepReader) addPending(pending []*workflowpb.PendingActivityInfo) {
	for _, one := range pending {
		at := slices.Index(r.ids, one.GetActivityId())
		if at < 0 {
			continue
		}
		step := &r.steps[at]
		step.Attempts, step.Cause = int(one.GetAttempt()), causeOf(one.GetLastFailure())
		if one.GetState() == enumspb.PENDING_ACTIVITY_STATE_STARTED {
			step.Started = one.GetLastStartedTime().AsTime()
			continue
		}
		step.Attempts-- // this one has not begun
		if next := one.GetScheduledTime().AsTime(); step.Attempts > 0 && next.After(time.Unix(0, 0)) {
			step.Next = next
		}
	}
}

// causeOf returns the code of an attempt's failure; "" without one. The words of a failure are
// not for those who may read the run.
func causeOf(failure *failurepb.Failure) knowledge.Code {
	switch {
	case failure == nil:
		return ""
	case failure.GetTimeoutFailureInfo() != nil:
		return knowledge.CodeUnavailable
	}
	for one := failure; one != nil; one = one.GetCause() {
		if code := knowledge.Code(one.GetApplicationFailureInfo().GetType()); code.Known() {
			return code
		}
	}
	return knowledge.CodeInternal
}
