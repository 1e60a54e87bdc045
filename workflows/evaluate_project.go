package workflows

import (
	"errors"
	"fmt"
	"slices"

	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
)

// SignalEvaluation is the signal of EvaluateProject that pauses and resumes it:
// EvaluationControl.
const SignalEvaluation = "evaluation_control"

// EvaluationControl pauses an evaluation, or resumes it.
type EvaluationControl struct {
	Paused bool `json:"paused"`
}

// EvaluateInput starts an evaluation. The fields after Offline are carried over a
// continue-as-new.
type EvaluateInput struct {
	answering.EvaluationState
	Budget   knowledge.Budget `json:"budget,omitzero"`
	Offline  bool             `json:"offline,omitempty"` // the judge needs no model, so it judges in a local activity
	Begun    bool             `json:"begun,omitempty"`   // its items are on record
	Waiting  []int            `json:"waiting,omitempty"` // items that are listed and not begun
	After    int              `json:"after,omitempty"`   // the last item that was listed
	Listed   bool             `json:"listed,omitempty"`  // no item is left to list
	Done     int              `json:"done,omitempty"`    // items that have ended
	Shown    int              `json:"shown,omitempty"`   // of them, at the last event
	Stopped  string           `json:"stopped,omitempty"` // the part of the budget that is used up
	Segments int              `json:"segments,omitempty"`
	Log      stream.Log       `json:"log,omitzero"`
}

// EvaluateProject has a project answer the questions of a test set, each in a workflow as a
// question of a person, and has the answers judged and measured.
func EvaluateProject(ctx workflow.Context, in EvaluateInput) error {
	w, err := newEvaluateProject(ctx, in)
	if err != nil {
		return err
	}
	err = w.run(ctx)
	if errors.Is(err, errContinue) {
		return w.continueAsNew(ctx)
	}
	return w.finish(ctx, canceled(ctx, err))
}

type evaluateProject struct {
	in    EvaluateInput
	log   *eventLog
	acts  answering.Activities // for the names of its methods only
	total int                  // items
	open  int                  // items that are asked or judged now
	ended int                  // items of this run of the workflow that have ended
	fault error                // of the store, which ends the evaluation

	last *knowledge.EvaluationProgress // that was shown
}

func newEvaluateProject(ctx workflow.Context, in EvaluateInput) (*evaluateProject, error) {
	log, err := newEventLog(ctx, in.Log)
	if err != nil {
		return nil, err
	}
	w := &evaluateProject{in: in, log: log}
	drainOnSignal(disconnected(ctx), SignalEvaluation, w.drain)
	return w, nil
}

// drain receives every waiting signal. The last one counts.
func (w *evaluateProject) drain(ctx workflow.Context) {
	for {
		var c EvaluationControl
		if !workflow.GetSignalChannel(ctx, SignalEvaluation).ReceiveAsync(&c) {
			return
		}
		w.in.Paused = c.Paused
	}
}

// run asks and judges the items until none is left or the budget is used up, and measures what
// was judged. It returns errContinue if the history has become long, and the error of ctx
// after a cancel.
func (w *evaluateProject) run(ctx workflow.Context) error {
	if !w.in.Begun {
		options := activityOptions(ctx, "put the items on record", evaluationStepTime, endlessRetries())
		if err := workflow.ExecuteActivity(options, w.acts.BeginEvaluation, w.in.RunRef).Get(ctx, nil); err != nil {
			return err
		}
		w.in.Begun = true
	}
	if err := w.show(ctx); err != nil {
		return err
	}
	if err := w.work(ctx); err != nil {
		return err
	}
	return w.measure(ctx, true)
}

// measure stores the means of what was judged, and tells the webhooks of the project if the
// evaluation ended by itself.
func (w *evaluateProject) measure(ctx workflow.Context, tell bool) error {
	options := activityOptions(ctx, "measure", evaluationStepTime, endlessRetries())
	return workflow.ExecuteActivity(options, w.acts.MeasureEvaluation, answering.MeasureInput{RunRef: w.in.RunRef, Stopped: w.in.Stopped, Tell: tell}).Get(ctx, nil)
}

// work keeps some items open until all have ended. It returns when none is open.
func (w *evaluateProject) work(ctx workflow.Context) error {
	for {
		w.drain(ctx)
		if w.in.Stopped == "" {
			w.in.Stopped = w.in.Budget.Exceeded(w.in.Usage)
		}
		long := isLong(ctx) && w.ended > 0
		mayStart := !long && !w.in.Paused && w.in.Stopped == "" && ctx.Err() == nil && w.fault == nil
		if mayStart {
			if err := w.start(ctx); err != nil {
				w.fault = err
				continue
			}
		}
		if w.open == 0 {
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case w.fault != nil:
				return w.fault
			case w.in.Stopped != "", w.in.Listed && len(w.in.Waiting) == 0:
				return nil
			case long:
				return errContinue
			}
		}
		if err := w.await(ctx); err != nil && w.open == 0 {
			return err
		}
	}
}

// await blocks until an item ends, or until the evaluation is paused or resumed. After a cancel
// it blocks until an item ends.
func (w *evaluateProject) await(ctx workflow.Context) error {
	ended, paused := w.ended, w.in.Paused
	waiting := ctx
	if ctx.Err() != nil {
		waiting = disconnected(ctx)
	}
	err := workflow.Await(waiting, func() bool { return w.ended != ended || w.in.Paused != paused })
	if err != nil || w.in.Paused != paused {
		w.drain(ctx)
		if showErr := w.show(ctx); err == nil {
			err = showErr
		}
	}
	return err
}

// start begins as many items as there is room for.
func (w *evaluateProject) start(ctx workflow.Context) error {
	for w.open < itemsAtATime {
		if len(w.in.Waiting) == 0 && !w.in.Listed {
			in := answering.NextItemsInput{RunRef: w.in.RunRef, After: w.in.After, Limit: itemsAPage}
			if err := localStep(ctx, "list items", w.acts.NextItems, in, &w.in.Waiting); err != nil {
				return err
			}
			if w.in.Listed = len(w.in.Waiting) < itemsAPage; len(w.in.Waiting) > 0 {
				w.in.After = w.in.Waiting[len(w.in.Waiting)-1]
			}
		}
		if len(w.in.Waiting) == 0 {
			return nil
		}
		number := w.in.Waiting[0]
		w.in.Waiting = w.in.Waiting[1:]
		w.open++
		workflow.Go(ctx, func(ctx workflow.Context) { w.evaluate(ctx, number) })
	}
	return nil
}

// evaluate asks and judges an item, and shows how far the evaluation is now and then.
func (w *evaluateProject) evaluate(ctx workflow.Context, number int) {
	judged, err := w.ask(ctx, number)
	w.in.Usage.Add(judged.Usage)
	if err == nil {
		w.in.Done++
		if w.in.Done-w.in.Shown >= max(1, w.total/evaluationUpdates) {
			err = w.show(ctx)
		}
	}
	if err != nil && ctx.Err() == nil && w.fault == nil {
		w.fault = err
	}
	w.open--
	w.ended++
}

// show stores how far the evaluation is, and shows it to readers and to operators.
func (w *evaluateProject) show(ctx workflow.Context) error {
	w.in.Shown = w.in.Done // others do not show it beside this
	var p knowledge.EvaluationProgress
	if err := workflow.ExecuteLocalActivity(finalOptions(ctx, "note the progress"), w.acts.NoteEvaluation, w.in.EvaluationState).Get(disconnected(ctx), &p); err != nil {
		return err
	}
	w.total = p.Total
	if w.last != nil && w.last.Ended() == p.Ended() && w.last.Answered == p.Answered && w.last.Paused == p.Paused {
		return nil
	}
	w.last = &p
	w.log.add(stream.TopicEvaluation, stream.Event{Data: stream.Data(record.EvaluationData{EvaluationProgress: p})})
	workflow.SetCurrentDetails(ctx, fmt.Sprintf("| items | judged | failed | open | paused |\n|---|---|---|---|---|\n| %d | %d | %d | %d | %t |", p.Total, p.Judged, p.Failed, w.open, p.Paused))
	return nil
}

// finish writes the end of the evaluation in SQL, in the stored log and in the workflow's log.
func (w *evaluateProject) finish(ctx workflow.Context, err error) error {
	ctx = disconnected(ctx)
	w.in.Paused = false
	ending := record.Ending{Kind: knowledge.KindEvaluate}
	switch {
	case err != nil:
		ending = record.Failed(knowledge.KindEvaluate, step.Describe(err, knowledge.Failure{Code: knowledge.CodeUnavailable, Message: "the evaluation took too long", Retryable: true}))
		// What was judged before counts all the same.
		_ = w.measure(ctx, false) // its failure adds nothing to the one that ends the run
	case w.in.Stopped != "":
		ending = record.Failed(knowledge.KindEvaluate, knowledge.Failure{Code: knowledge.CodeLimitReached, Message: "the budget of " + w.in.Stopped + " was used up before all items were asked"})
	}
	if err := w.show(ctx); err != nil {
		return err
	}
	if err := setStatusAttribute(ctx, ending.Status()); err != nil {
		return err
	}
	in := answering.FinishEvaluationInput{EvaluationState: w.in.EvaluationState, Error: ending.Error, Segments: w.in.Segments, Items: w.log.itemsWith(0, ending)}
	if err := workflow.ExecuteLocalActivity(finalOptions(ctx, "finish"), w.acts.FinishEvaluation, in).Get(ctx, nil); err != nil {
		return fmt.Errorf("finish run %s: %w", w.in.Run, err)
	}
	w.log.end(ending)
	w.log.close(ctx)
	return nil
}

// continueAsNew returns the error that continues the workflow as new. The events that leave
// memory are stored before.
func (w *evaluateProject) continueAsNew(ctx workflow.Context) error {
	w.drain(ctx)
	held := w.log.Items(0)
	in := w.in
	in.Log = w.log.carry(ctx)
	count := 0
	for count < len(held) && held[count].Offset < in.Log.Base {
		count++
	}
	if count > 0 {
		segment := answering.SegmentInput{RunRef: w.in.RunRef, Number: in.Segments, Items: slices.Clone(held[:count])}
		if err := workflow.ExecuteLocalActivity(finalOptions(ctx, "store a part of the log"), w.acts.StoreSegment, segment).Get(disconnected(ctx), nil); err != nil {
			return err
		}
		in.Segments++
	}
	in.Paused = w.in.Paused
	return workflow.NewContinueAsNewError(ctx, EvaluateProject, in)
}
