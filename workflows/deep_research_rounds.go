package workflows

import (
	"errors"
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/record"
)

// The shares of time and tokens that sub-questions may use. The report needs the rest.
const (
	timeToSearch   = 0.75
	tokensToSearch = 0.7
)

// readAtATime is how many sub-questions are researched at the same time.
const readAtATime = 4

// round plans a round and researches its sub-questions. It sets Searched if none is left.
func (r *research) round(ctx workflow.Context) error {
	left, err := r.turn(ctx, timeToSearch)
	if err != nil {
		return err
	}
	round := len(r.Plans) + 1
	unheard := len(r.Messages) > r.Heard && round <= 2*r.in.Limits.Depth
	if round > r.in.Limits.Depth && !unheard {
		r.Searched = true
		return nil
	}
	if reason := r.exhausted(left, 2); reason != "" {
		r.stop(ctx, reason)
		return nil
	}
	plan, err := r.plan(ctx, round, left)
	if err != nil {
		return err
	}
	if plan.Questions == 0 {
		r.Searched = true
		return nil
	}
	r.Plans = append(r.Plans, plan.Key)
	if err := r.read(ctx, round, plan); err != nil {
		return err
	}
	r.isLong(ctx)
	return nil
}

// plan plans a round within the time that is left. If no time is left, or a plan after the
// first one fails, the plan has no questions, and the report has what was found so far.
func (r *research) plan(ctx workflow.Context, round int, left time.Duration) (plan answering.PlanResult, err error) {
	heard := len(r.Messages)
	in := answering.PlanInput{RunRef: r.in.RunRef, Research: r.Research, Round: round, Breadth: r.in.Limits.Breadth}
	r.update(ctx, record.ResearchData{Phase: "plan", Status: "started", Round: round}, "")
	options := activityOptions(ctx, fmt.Sprintf("plan round %d", round), 10*time.Minute, questionRetries())
	if err = execute(workflow.WithScheduleToCloseTimeout(options, left), r.acts.PlanResearch, in, &plan); err == nil {
		r.Usage.Add(plan.Usage)
		r.Heard = heard
		r.update(ctx, record.ResearchData{Phase: "plan", Status: "completed", Round: round}, plan.Key)
		return plan, nil
	}
	if ctx.Err() != nil {
		return plan, err
	}
	late := isOutOfTime(err)
	if round == 1 && !late {
		return plan, err
	}
	r.update(ctx, record.ResearchData{Phase: "plan", Status: "failed", Round: round, Reason: failureOf(err)}, "")
	if late {
		r.stop(ctx, answering.OutOfTime)
	}
	return answering.PlanResult{}, nil
}

// isOutOfTime reports whether an activity with a ScheduleToCloseTimeout has failed because
// that was over.
func isOutOfTime(err error) bool {
	failed, ok := errors.AsType[*temporal.ActivityError](err)
	if !ok {
		return false
	}
	timeout, ok := errors.AsType[*temporal.TimeoutError](err)
	return failed.RetryState() == enumspb.RETRY_STATE_TIMEOUT || ok && timeout.TimeoutType() == enumspb.TIMEOUT_TYPE_SCHEDULE_TO_CLOSE
}

// stop ends the search for lack of budget.
func (r *research) stop(ctx workflow.Context, reason answering.Exhaustion) {
	r.Searched = true
	if r.Ended == "" {
		r.Ended = reason
		r.update(ctx, record.ResearchData{Phase: "budget", Status: "completed", Reason: string(reason)}, "")
	}
}

// reserve is how many model calls the report may need.
func (r *research) reserve() int {
	return min(1+answering.MaxSections, max(2, r.in.Limits.Budget.Calls/3))
}

// exhausted returns the part of the budget that leaves no room to search with so many more
// model calls, "" = there is room.
func (r *research) exhausted(left time.Duration, calls int) answering.Exhaustion {
	budget := r.in.Limits.Budget
	switch {
	case left <= 0:
		return answering.OutOfTime
	case r.Usage.ModelCalls+calls+r.reserve() > budget.Calls:
		return answering.OutOfCalls
	case float64(r.tokens()) >= tokensToSearch*float64(budget.Tokens):
		return answering.OutOfTokens
	}
	return ""
}

func (r *research) tokens() int { return r.Usage.PromptTokens + r.Usage.CompletionTokens }

// read researches the sub-questions of a plan, some at a time. One that fails does not
// fail the research. It sets Searched if all have failed so far: another round would only
// repeat that, and the report says what failed.
func (r *research) read(ctx workflow.Context, round int, plan answering.PlanResult) error {
	first := len(r.Reading)
	for i := range plan.Questions {
		r.Reading = append(r.Reading, answering.Reading{Plan: plan.Key, Question: i, Skipped: true})
	}
	late, err := r.runInTime(ctx, timeToSearch, func(ctx workflow.Context) error {
		slots, group, open := workflow.NewSemaphore(ctx, readAtATime), workflow.NewWaitGroup(ctx), 0
		var err error
		for i := range plan.Questions {
			if err = slots.Acquire(ctx, 1); err != nil {
				break
			}
			var left time.Duration
			if left, err = r.turn(ctx, timeToSearch); err != nil {
				break
			}
			if reason := r.exhausted(left, 1+open); reason != "" {
				r.stop(ctx, reason)
				break
			}
			open++
			group.Add(1)
			workflow.Go(ctx, func(ctx workflow.Context) {
				r.Reading[first+i] = r.readOne(ctx, round, r.Reading[first+i])
				open--
				slots.Release(1)
				group.Done()
			})
		}
		group.Wait(disconnected(ctx))
		return err
	})
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case late:
		r.stop(ctx, answering.OutOfTime)
	case err != nil:
		return err
	}
	r.Searched = r.Searched || r.AllFailed()
	return nil
}

// readOne has a workflow research a sub-question, and returns what became of it.
func (r *research) readOne(ctx workflow.Context, round int, q answering.Reading) answering.Reading {
	var result QuestionResult
	err := workflow.ExecuteChildWorkflow(workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID: r.in.ResearchQuestionID(round, q.Question+1), ParentClosePolicy: enumspb.PARENT_CLOSE_POLICY_REQUEST_CANCEL,
		WorkflowTaskTimeout: pageTaskTimeout, WaitForCancellation: true, TypedSearchAttributes: workflow.GetTypedSearchAttributes(ctx),
		StaticSummary: fmt.Sprintf("research question %d of round %d", q.Question+1, round),
	}), ResearchQuestion, QuestionInput{ReadInput: answering.ReadInput{RunRef: r.in.RunRef, Round: round, Plan: q.Plan, Question: q.Question, Given: r.Given}, Web: r.in.Web}).Get(ctx, &result)
	r.Usage.Add(result.Usage)
	q.Searches, q.Notes, q.Failure, q.Skipped, q.Missed = result.Searches, result.Notes, result.Failure, false, result.Missed
	switch {
	case err != nil && ctx.Err() != nil:
		q.Skipped = true
	case err != nil:
		q.Failure = failureOf(err)
	}
	return q
}

// runInTime runs a step, and cancels it when a share of the time is over. late reports
// whether it did.
func (r *research) runInTime(ctx workflow.Context, share float64, step func(workflow.Context) error) (late bool, err error) {
	inner, cancel := workflow.WithCancel(ctx)
	done := false
	workflow.Go(ctx, func(ctx workflow.Context) {
		for !done && ctx.Err() == nil {
			r.count(ctx)
			left := r.timeLeft(share)
			if left <= 0 && !r.Paused {
				late = true
				cancel()
				return
			}
			paused := r.Paused
			changed := func() bool { return done || r.Paused != paused }
			if paused {
				_ = workflow.Await(ctx, changed) // the only error is a cancel
				continue
			}
			_, _ = workflow.AwaitWithTimeout(ctx, left, changed)
		}
	})
	err = step(inner)
	done = true
	cancel()
	return late, err
}
