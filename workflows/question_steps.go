package workflows

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
)

// stepsTime bounds the steps of a place: each has at most three attempts of a minute.
const stepsTime = 35 * time.Minute

// beforePrompt runs the steps of the project over the passages of the first search.
func (a *answer) beforePrompt(ctx workflow.Context) error {
	if !a.in.BeforePrompt || a.loop.Prompted {
		return nil
	}
	result, err := a.steps(ctx, "run the steps before the prompt", a.acts.RunBeforePrompt)
	a.loop.Prompted, a.loop.Stepped = true, result.Words
	return err
}

// afterAnswer runs the steps of the project over the answer. If one replaces it, or the
// question fails, readers drop the words so far.
func (a *answer) afterAnswer(ctx workflow.Context) error {
	if !a.in.AfterAnswer || a.loop.Answer == "" && a.loop.Record == nil {
		return nil
	}
	result, err := a.steps(ctx, "run the steps after the answer", a.acts.RunAfterAnswer)
	if ctx.Err() != nil || err == nil && result.Answer == "" {
		return err
	}
	a.log.add(stream.TopicReset, stream.Event{Data: stream.Data(record.ResetData{Attempt: 1, Reason: "step"})})
	if err != nil {
		return err
	}
	a.log.add(stream.TopicDelta, stream.Event{Text: result.Text})
	a.loop.Answer, a.loop.Record = result.Answer, nil
	return nil
}

// steps runs an activity with the steps of a place, and shows what became of them.
func (a *answer) steps(ctx workflow.Context, summary string, activity any) (answering.StepsResult, error) {
	workflow.SetCurrentDetails(ctx, summary)
	var result answering.StepsResult
	in := answering.StepsInput{RunRef: a.in.RunRef, Loop: a.loop}
	if err := execute(activityOptions(ctx, summary, stepsTime, questionRetries()), activity, in, &result); err != nil {
		return result, err
	}
	a.log.drain(ctx)
	for _, s := range result.Steps {
		a.log.add(stream.TopicStep, stream.Event{Data: stream.Data(s)})
	}
	if result.Code != "" {
		return result, temporal.NewNonRetryableApplicationError(result.Message, string(result.Code), nil)
	}
	return result, ctx.Err()
}
