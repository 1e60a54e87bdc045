package workflows

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/internal/tool"
)

// turns calls the model and runs the tools that it calls, until it calls none. After
// MaxToolTurns turns with tool calls the model may call no more. A call during which its
// person sent a message is made anew, unless it has called tools.
func (a *answer) turns(ctx workflow.Context) error {
	for {
		turn, from := len(a.loop.Turns)+a.loop.GivenUp+1, a.log.End()
		result, err := a.call(ctx, turn)
		if err != nil && (len(a.unheard) == 0 || ctx.Err() != nil) {
			return err
		}
		if err != nil { // its provider may have charged for it, and did not say how much
			result = answering.ModelCallResult{Attempt: 1, Usage: knowledge.Usage{ModelCalls: 1}}
		}
		a.loop.Usage.Add(result.Usage)
		if ctx.Err() != nil {
			return ctx.Err() // a cancel wins over a result that came later
		}
		if len(result.ToolCalls) == 0 && len(a.unheard) > 0 {
			a.callAnew(turn, result.Attempt, a.log.HasWords(from, turn))
			continue
		}
		if len(result.ToolCalls) == 0 {
			a.closed = true
			a.loop.Answer, a.loop.Record = result.Key, result.Record
			return nil
		}
		if result.Published || result.Tail != "" {
			a.log.add(stream.TopicReset, stream.Event{Turn: turn, Attempt: result.Attempt, Data: stream.Data(record.ResetData{Attempt: result.Attempt, Reason: "tool_calls"})})
		}
		a.inTools = true
		a.hearAll()
		outputs, err := a.tools(ctx, turn, result)
		if err != nil {
			return err
		}
		a.inTools = false
		a.loop.Turns = append(a.loop.Turns, record.Turn{Key: result.Key, Outputs: outputs})
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			return a.continueAsNew(ctx)
		}
	}
}

// call makes one model call. The activity publishes the words of the answer as they
// come. Its result holds the words that it did not publish. A message of the person who asked
// cancels the call.
func (a *answer) call(ctx workflow.Context, turn int) (answering.ModelCallResult, error) {
	in := answering.ModelCallInput{RunRef: a.in.RunRef, Turn: turn, NoTools: len(a.loop.Turns) >= a.in.MaxToolTurns, Preceding: a.log.Items(a.inHub), Inline: !a.in.Suggest && !a.in.AfterAnswer, Followed: a.in.AfterAnswer}
	in.Chosen = a.showChosen()
	in.Loop, in.Offset, in.Fence = a.loop, a.log.End(), a.fence
	a.fence = 0
	var result answering.ModelCallResult
	summary := fmt.Sprintf("model call %d", turn)
	workflow.SetCurrentDetails(ctx, summary)
	retries := questionRetries()
	calling, giveUp := workflow.WithCancel(ctx)
	a.giveUp = giveUp
	err := repeatAfterDeath(calling, func(deaths int) error {
		in.Before = deaths * int(retries.MaximumAttempts)
		return workflow.ExecuteActivity(activityOptions(calling, summary, 10*time.Minute, retries), a.acts.CallModel, in).Get(calling, &result)
	})
	a.giveUp = nil
	a.log.drain(ctx)
	if err != nil {
		a.inHub = a.log.End()
		return result, err
	}
	if result.Tail != "" {
		a.log.Publish(stream.Batch{Items: []stream.Entry{
			record.Entry(stream.TopicDelta, stream.Event{Turn: turn, Attempt: result.Attempt, Text: result.Tail}),
		}})
	}
	a.inHub = a.log.End()
	if result.Tail != "" {
		a.inHub-- // the hub does not have the tail
	}
	return result, nil
}

// tools runs the calls of one turn concurrently and returns their outputs in the
// order of the calls. The output of a failed call is its failure.
func (a *answer) tools(ctx workflow.Context, turn int, result answering.ModelCallResult) ([]record.ToolOutput, error) {
	outputs := make([]record.ToolOutput, len(result.ToolCalls))
	group := workflow.NewWaitGroup(ctx)
	for i, call := range result.ToolCalls {
		begun := record.CallStarted
		if call.Approval {
			begun = record.CallWaiting
		}
		a.toolEvent(ctx, result.Key, i, call, begun, record.ToolOutput{}, 0)
		group.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer group.Done()
			output, err := a.approved(ctx, result.Key, i, call)
			started := workflow.Now(ctx)
			if err == nil && !output.Refused {
				output, err = a.tool(ctx, turn, i, result)
			}
			if err != nil {
				f := step.Describe(err, knowledge.Failure{Code: knowledge.CodeProviderFailed, Message: "the tool took too long"})
				output = record.ToolOutput{Failure: f.Message}
			}
			outputs[i] = output
			a.log.drain(ctx)
			a.log.Retire(stream.ToolPublisher(turn, i))
			a.chose(output.Chosen, output.Search)
			a.toolEvent(ctx, result.Key, i, call, output.Status(), output, workflow.Now(ctx).Sub(started))
		})
	}
	group.Wait(disconnected(ctx))
	for i, o := range outputs {
		a.loop.Usage.Add(o.Usage)
		if o.Search != "" {
			a.loop.Searches = append(a.loop.Searches, o.Search)
			a.loop.Unshown = a.loop.Unshown || o.Kept > 0 && result.ToolCalls[i].Name != tool.ListDocuments
		}
	}
	return outputs, ctx.Err()
}

func (a *answer) tool(ctx workflow.Context, turn, i int, result answering.ModelCallResult) (record.ToolOutput, error) {
	in := answering.ToolCallInput{RunRef: a.in.RunRef, Turn: turn, Call: i, Key: result.Key}
	call := result.ToolCalls[i]
	if call.Agent {
		return a.agent(ctx, turn, i, result)
	}
	summary := fmt.Sprintf("%s, call %d of %d", call.Name, i+1, len(result.ToolCalls))
	retries := questionRetries()
	if call.Once {
		retries = once()
	}
	var output record.ToolOutput
	err := execute(activityOptions(ctx, summary, cmp.Or(call.Limit, tool.DefaultLimit), retries), a.acts.CallTool, in, &output)
	return output, err
}

func (a *answer) toolEvent(ctx workflow.Context, key string, i int, call answering.ToolCallRef, status knowledge.RunStatus, output record.ToolOutput, took time.Duration) {
	data := record.ToolCallData{ID: call.ID, Name: call.Name, Call: i, Status: status, Summary: output.Summary, Failure: output.Failure, Seconds: took.Seconds()}
	if status == knowledge.RunCompleted && output.Search != "" {
		data.Found = &output.Kept
	}
	if output.Files > 0 || output.Refused {
		data.Files = output.Words
	}
	a.log.add(stream.TopicToolCall, stream.Event{Ref: key, Data: stream.Data(data)})
	a.tellCaller(ctx, "toolCall", AgentData{ID: call.ID, Name: call.Name, Status: status, Found: data.Found})
}

// chose adds the event of a search that chose something by itself. The words are in the
// blob of the search.
func (a *answer) chose(chosen bool, search string) {
	if chosen {
		a.log.add(stream.TopicSearch, stream.Event{Ref: search})
	}
}

// showChosen names the passages that the next model call gets, if some are new, and reports
// whether it did. Readers can open them while the model writes.
func (a *answer) showChosen() bool {
	shown := a.in.ShowChosen && a.loop.Unshown
	if shown {
		a.log.Append(a.loop.Chosen().Entry())
	}
	a.loop.Unshown = false
	return shown
}

// search finds passages for the question itself. With an embedding model nearby a
// search takes milliseconds, so it runs as a local activity and does not delay the
// first word. If it takes longer than quickSearch or fails, an activity runs it
// with retries, and so it does at once if the search asks a model beside the model of the
// embeddings. A stored search is not repeated.
func (a *answer) search(ctx workflow.Context, in answering.SearchInput) (record.SearchResult, error) {
	var result record.SearchResult
	if a.in.SlowSearch {
		err := execute(activityOptions(ctx, "search", 2*time.Minute, questionRetries()), a.acts.SearchKnowledge, in, &result)
		return result, err
	}
	quick := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		ScheduleToCloseTimeout: quickSearch, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1}, Summary: "search",
	})
	err := workflow.ExecuteLocalActivity(quick, a.acts.SearchKnowledge, in).Get(ctx, &result)
	var application *temporal.ApplicationError
	if err == nil || temporal.IsCanceledError(err) || errors.As(err, &application) && application.NonRetryable() {
		return result, err
	}
	err = execute(activityOptions(ctx, "search", time.Minute, questionRetries()), a.acts.SearchKnowledge, in, &result)
	return result, err
}

// quickSearch bounds the first search as a local activity.
const quickSearch = 2 * time.Second

// continueAsNew prepares a continue-as-new between two turns. It stores the part of
// the log that leaves memory.
func (a *answer) continueAsNew(ctx workflow.Context) error {
	a.moving = true
	carried := a.log.carry(ctx)
	if old := a.log.Items(0); carried.Base > a.log.Base {
		in := answering.SegmentInput{RunRef: a.in.RunRef, Number: a.segments, Items: old[:carried.Base-a.log.Base]}
		if err := workflow.ExecuteLocalActivity(localOptions(ctx, "store a part of the log"), a.acts.StoreSegment, in).Get(ctx, nil); err != nil {
			return fmt.Errorf("store log segment %d: %w", a.segments, err)
		}
		a.segments++
	}
	next := a.in
	next.Carried, next.Log, next.Segments, next.Next = &a.loop, carried, a.segments, nextRuns(ctx, a.in.Next)
	a.nextRun = a.newRun(next)
	return nil
}

// questionRetries is the retry policy of questions: few attempts, because a reader
// waits for the answer.
func questionRetries() *temporal.RetryPolicy {
	return &temporal.RetryPolicy{InitialInterval: 250 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: 20 * time.Second, MaximumAttempts: 6}
}
