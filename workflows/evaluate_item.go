package workflows

import (
	"fmt"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
)

// The bounds of an evaluation.
const (
	itemsAtATime      = 8   // items that are asked or judged at the same time
	itemsAPage        = 200 // items that are listed at a time
	evaluationUpdates = 100 // events of progress, about

	evaluationStepTime = 10 * time.Minute
	judgeTime          = 10 * time.Minute
	firstAgain         = 30 * time.Second // before an item is asked again
)

// ask has an item answered and judged. It is asked again after a pause if its model limits
// requests.
func (w *evaluateProject) ask(ctx workflow.Context, number int) (judged answering.Judged, err error) {
	in := answering.EvaluatedInput{RunRef: w.in.RunRef, Number: number}
	var used knowledge.Usage
	for pause := firstAgain; ; pause *= 4 {
		judged, err = w.askOnce(ctx, in)
		used.Add(judged.Usage)
		judged.Usage = used
		if err != nil || !judged.Again {
			return judged, err
		}
		in.Try++
		timer := workflow.NewTimerWithOptions(ctx, pause, workflow.TimerOptions{Summary: fmt.Sprintf("ask item %d again", number)})
		if err := timer.Get(ctx, nil); err != nil {
			return judged, err
		}
	}
}

// askOnce has an item answered by a workflow of its own, as the question of a person is, and
// judged. A failure of the answer or of the judge is the outcome of the item. The error is one of
// the store, or of a cancel.
func (w *evaluateProject) askOnce(ctx workflow.Context, in answering.EvaluatedInput) (judged answering.Judged, err error) {
	number := in.Number
	var child record.AnswerInput
	if err := localStep(ctx, fmt.Sprintf("prepare item %d", number), w.acts.PrepareEvaluated, in, &child); err != nil {
		return judged, err
	}
	if err := w.answer(ctx, number, child); err != nil {
		return judged, err
	}
	if err = w.judge(ctx, in, &judged); err == nil || ctx.Err() != nil {
		return judged, ctx.Err()
	}
	f := step.Describe(err, knowledge.Failure{Code: knowledge.CodeProviderFailed, Message: "the judge did not answer in time"})
	failed := answering.FailEvaluatedInput{EvaluatedInput: in, Failure: knowledge.Failure{Code: f.Code, Message: f.Message}}
	err = localStep(ctx, fmt.Sprintf("note the failure of item %d", number), w.acts.FailEvaluated, failed, &judged)
	return judged, err
}

// judge has the answer of an item judged. Without a model that takes milliseconds.
func (w *evaluateProject) judge(ctx workflow.Context, in answering.EvaluatedInput, judged *answering.Judged) error {
	summary := fmt.Sprintf("judge item %d", in.Number)
	if w.in.Offline {
		return localStep(ctx, summary, w.acts.JudgeAnswer, in, judged)
	}
	return execute(activityOptions(ctx, summary, judgeTime, importRetries()), w.acts.JudgeAnswer, in, judged)
}

// answer has an item answered, unless it has an answer: then the child has no run. The error is that
// of a cancel.
func (w *evaluateProject) answer(ctx workflow.Context, number int, child record.AnswerInput) error {
	if child.Run == "" {
		return nil
	}
	err := workflow.ExecuteChildWorkflow(workflow.WithChildOptions(ctx, workflow.ChildWorkflowOptions{
		WorkflowID: knowledge.KindQuery.WorkflowID(child.Workspace, child.Run), ParentClosePolicy: enumspb.PARENT_CLOSE_POLICY_REQUEST_CANCEL,
		WorkflowIDReusePolicy: enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE,
		WorkflowTaskTimeout:   pageTaskTimeout, WaitForCancellation: true, TypedSearchAttributes: workflow.GetTypedSearchAttributes(ctx),
		StaticSummary: fmt.Sprintf("answer item %d of an evaluation", number),
	}), AnswerQuery, child).Get(ctx, nil)
	if ctx.Err() == nil && err != nil { // its run says how it ended
		workflow.GetLogger(ctx).Warn("the answer to an item was ended from outside", "run", child.Run, "error", err)
	}
	return ctx.Err()
}
