package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// The questions of a conversation are answered one after the other, because the history of
// a question holds the answers to those before it. A run that has to wait signals
// SignalNext, with its workflow id, to the one before it, which sends SignalTurn when it has
// ended.
const (
	SignalNext = "next-of-conversation"
	SignalTurn = "turn-in-conversation"
)

// A run looks for its turn by itself after these times too, because the one before it may
// have ended in a way that sends no signal.
const (
	firstTurnLook = 10 * time.Second
	lastTurnLook  = 10 * time.Minute
)

// awaitTurn waits until no run before this one in its conversation is running. The history
// of the question is then stored with its request.
func awaitTurn(ctx workflow.Context, run knowledge.RunRef, after string) (overlong bool, err error) {
	if after == "" {
		return false, nil
	}
	var acts answering.Activities
	workflow.SetCurrentDetails(ctx, "waits for the question before it in the conversation")
	turn := workflow.GetSignalChannel(ctx, SignalTurn)
	told, wait := "", firstTurnLook
	for {
		in := answering.TurnInput{RunRef: run, After: after}
		var result answering.TurnResult
		if err := workflow.ExecuteLocalActivity(localOptions(ctx, "look for the turn"), acts.TakeTurn, in).Get(ctx, &result); err != nil || result.Before == "" {
			return result.Overlong, err
		}
		if result.Before != told { // look again: it may have ended before the signal came
			told = result.Before
			// A workflow that has ended meanwhile takes no signal.
			_ = workflow.SignalExternalWorkflow(ctx, told, "", SignalNext, workflow.GetInfo(ctx).WorkflowExecution.ID).Get(ctx, nil)
			continue
		}
		if _, err := workflow.AwaitWithTimeout(ctx, wait, func() bool { return turn.Len() > 0 }); err != nil {
			return false, err
		}
		turn.ReceiveAsync(nil)
		wait = min(2*wait, lastTurnLook)
	}
}

// nextRuns returns the workflows that wait for the end of this one: those that are known,
// and those whose signal has come since.
func nextRuns(ctx workflow.Context, known []string) []string {
	for {
		var id string
		if !workflow.GetSignalChannel(ctx, SignalNext).ReceiveAsync(&id) {
			return known
		}
		known = append(known, id)
	}
}

// wakeNext signals the workflows that wait for the end of this one.
func wakeNext(ctx workflow.Context, known []string) {
	ctx = disconnected(ctx)
	for waiting := nextRuns(ctx, known); len(waiting) > 0; waiting = nextRuns(ctx, waiting[1:]) {
		// One that was canceled meanwhile takes no signal.
		_ = workflow.SignalExternalWorkflow(ctx, waiting[0], "", SignalTurn, nil).Get(ctx, nil)
	}
}
