package workflows

import (
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/stream"
)

// turns lets the model answer, running the tools that it calls, until it calls
// none. After the allowed number of turns with tool calls it may call no more.
func (a *answer) turns(ctx workflow.Context) error {
	for {
		turn := len(a.loop.Turns) + 1
		result, err := a.call(ctx, turn)
		if err != nil {
			return err
		}
		a.loop.Usage.Add(result.Usage)
		if ctx.Err() != nil {
			return ctx.Err() // before the call's result was taken
		}
		if len(result.ToolCalls) == 0 {
			a.loop.Answer = result.Key
			return nil
		}
		if result.Published || result.Tail != "" {
			a.log.add(stream.TopicReset, stream.Event{Turn: turn, Attempt: result.Attempt, Data: stream.Data(ResetData{Attempt: result.Attempt, Reason: "tool_calls"})})
		}
		outputs, err := a.tools(ctx, turn, result)
		if err != nil {
			return err
		}
		a.loop.Turns = append(a.loop.Turns, activities.Turn{Key: result.Key, Outputs: outputs})
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			return a.moveOn(ctx)
		}
	}
}

// ResetData is the inline data of a messageReset event.
type ResetData struct {
	Attempt int    `json:"attempt"`
	Reason  string `json:"reason"` // retry or tool_calls
}

// call asks the model once. The activity publishes the answer's words while
// they come; those that it had not published travel in its result.
func (a *answer) call(ctx workflow.Context, turn int) (activities.ModelCallResult, error) {
	in := activities.ModelCallInput{
		RunRef: a.in.RunRef, Loop: a.loop, Turn: turn, NoTools: turn > a.in.MaxToolTurns,
		Offset: a.log.End(), Preceding: a.log.Items(a.shown),
	}
	var result activities.ModelCallResult
	summary := fmt.Sprintf("model call %d", turn)
	workflow.SetCurrentDetails(ctx, summary)
	retries := questionRetries()
	err := outlive(ctx, func(deaths int) error {
		in.Before = deaths * int(retries.MaximumAttempts)
		return workflow.ExecuteActivity(regular(ctx, summary, 10*time.Minute, retries), a.acts.CallModel, in).Get(ctx, &result)
	})
	if err != nil {
		return result, err
	}
	a.log.drain(ctx)
	if result.Tail != "" {
		a.log.Publish(stream.Batch{Items: []stream.Entry{
			entry(stream.TopicDelta, stream.Event{Turn: turn, Attempt: result.Attempt, Text: result.Tail}),
		}})
	}
	a.shown = a.log.End()
	if result.Tail != "" {
		a.shown-- // the tail was not given to the hub
	}
	return result, nil
}

// tools runs the calls of one turn side by side and returns their outputs in the
// order of the calls. The output of a tool that fails is its failure.
func (a *answer) tools(ctx workflow.Context, turn int, result activities.ModelCallResult) ([]activities.ToolOutput, error) {
	outputs := make([]activities.ToolOutput, len(result.ToolCalls))
	group := workflow.NewWaitGroup(ctx)
	for i, call := range result.ToolCalls {
		a.toolEvent(result.Key, i, call, "started", activities.ToolOutput{}, 0)
		group.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer group.Done()
			started := workflow.Now(ctx)
			output, err := a.tool(ctx, turn, i, result)
			status := knowledge.RunCompleted
			if err != nil {
				f := activities.Describe(err, knowledge.Failure{Code: knowledge.CodeProviderFailed, Message: "the tool took too long"})
				output, status = activities.ToolOutput{Failure: f.Message}, knowledge.RunFailed
			}
			outputs[i] = output
			a.toolEvent(result.Key, i, call, status, output, workflow.Now(ctx).Sub(started))
		})
	}
	group.Wait(disconnected(ctx))
	for _, o := range outputs {
		if o.Search != "" {
			a.loop.Searches = append(a.loop.Searches, o.Search)
		}
	}
	return outputs, ctx.Err()
}

func (a *answer) tool(ctx workflow.Context, turn, i int, result activities.ModelCallResult) (activities.ToolOutput, error) {
	in := activities.ToolCallInput{RunRef: a.in.RunRef, Turn: turn, Call: i, Key: result.Key}
	summary := fmt.Sprintf("%s, call %d of %d", result.ToolCalls[i].Name, i+1, len(result.ToolCalls))
	var output activities.ToolOutput
	err := execute(regular(ctx, summary, 2*time.Minute, questionRetries()), a.acts.CallTool, in, &output)
	return output, err
}

// ToolCallData is the inline data of a toolCall event; the arguments are in the
// blob of the model call that the event refers to.
type ToolCallData struct {
	ID      string              `json:"id"`
	Name    string              `json:"name"`
	Call    int                 `json:"call"`            // its place among the calls of the turn
	Status  knowledge.RunStatus `json:"status"`          // "started", completed or failed
	Found   *int                `json:"found,omitempty"` // passages that the tool gave
	Failure string              `json:"failure,omitempty"`
	Seconds float64             `json:"seconds,omitempty"`
}

func (a *answer) toolEvent(key string, i int, call activities.ToolCallRef, status knowledge.RunStatus, output activities.ToolOutput, took time.Duration) {
	data := ToolCallData{ID: call.ID, Name: call.Name, Call: i, Status: status, Failure: output.Failure, Seconds: took.Seconds()}
	if status == knowledge.RunCompleted {
		data.Found = &output.Kept
	}
	a.log.add(stream.TopicToolCall, stream.Event{Ref: key, Data: stream.Data(data)})
}

// search finds passages for the question itself. With an embedding model nearby
// that takes milliseconds and is not worth an activity of its own, which would
// stand between the question and its first word; where it takes longer, or
// fails, an activity with its retries takes over. A search that was stored is
// not made again.
func (a *answer) search(ctx workflow.Context, in activities.SearchInput) (activities.SearchResult, error) {
	var result activities.SearchResult
	quick := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		ScheduleToCloseTimeout: quickSearch, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1}, Summary: "search",
	})
	err := workflow.ExecuteLocalActivity(quick, a.acts.SearchKnowledge, in).Get(ctx, &result)
	var application *temporal.ApplicationError
	if err == nil || temporal.IsCanceledError(err) || errors.As(err, &application) && application.NonRetryable() {
		return result, err
	}
	err = execute(regular(ctx, "search", time.Minute, questionRetries()), a.acts.SearchKnowledge, in, &result)
	return result, err
}

// quickSearch is how long the first search may take as a local activity.
const quickSearch = 2 * time.Second

// moveOn continues as new between two turns: the part of the log that leaves
// memory is stored first.
func (a *answer) moveOn(ctx workflow.Context) error {
	carried := a.log.carry(ctx)
	if old := a.log.Items(0); carried.Base > a.log.Base {
		in := activities.SegmentInput{RunRef: a.in.RunRef, Number: a.segments, Items: old[:carried.Base-a.log.Base]}
		if err := workflow.ExecuteLocalActivity(local(ctx, "store a part of the log"), a.acts.StoreSegment, in).Get(ctx, nil); err != nil {
			return fmt.Errorf("store log segment %d: %w", a.segments, err)
		}
		a.segments++
	}
	next := a.in
	next.Carried, next.Log, next.Segments = &a.loop, carried, a.segments
	a.nextRun = a.continueAs(next)
	return nil
}

// questionRetries are few: somebody waits for the answer.
func questionRetries() *temporal.RetryPolicy {
	return &temporal.RetryPolicy{InitialInterval: 250 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: 20 * time.Second, MaximumAttempts: 6}
}
