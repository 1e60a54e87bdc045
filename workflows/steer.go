package workflows

import (
	"fmt"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
)

// UpdateSteer is the update that adds a message of the person who asked to a question that
// is being answered. Its argument is the blob key of the record.SteerMessage.
//
// The update needs no version of the workflow: only its own history has what it changes.
const UpdateSteer = "cairn_steer"

// The types of the errors of UpdateSteer.
const (
	TypeNotSteerable  = "NotSteerable"    // the answer is complete, or webhooks give it
	TypeTooManySteers = "TooManyMessages" // the run has MaxSteers already
	TypeMoving        = "Moving"          // the workflow continues as new: the next run accepts it
)

// MaxSteers is how many messages a run accepts. Each may cost a model call.
const MaxSteers = 20

// steering is the state of an answer that messages of its person change.
type steering struct {
	unheard []string            // blobs of messages that came during a model call, which alone writes to the log
	giveUp  workflow.CancelFunc // ends the model call that is under way; nil = there is none
	inTools bool                // the tools of a turn run
	fence   int                 // the turn of the model call before, if it was given up
	closed  bool                // no model call will follow
	moving  bool                // the workflow continues as new
}

// takeMessages registers the handler of messages.
func (a *answer) takeMessages(ctx workflow.Context) error {
	err := workflow.SetUpdateHandlerWithOptions(ctx, UpdateSteer, func(_ workflow.Context, key string) error {
		if a.giveUp == nil {
			a.hear(key)
			return nil
		}
		a.unheard = append(a.unheard, key)
		a.giveUp()
		return nil
	}, workflow.UpdateHandlerOptions{Validator: func(string) error { return a.refuseMessage() }})
	if err != nil {
		return fmt.Errorf("set update handler: %w", err)
	}
	return nil
}

// refuseMessage returns why no message can be added now, nil if one can.
func (a *answer) refuseMessage() error {
	switch {
	case a.moving:
		return temporal.NewApplicationError("the workflow continues as new", TypeMoving)
	case a.closed:
		return temporal.NewNonRetryableApplicationError("no model call follows", TypeNotSteerable, nil)
	case len(a.loop.Steers)+len(a.unheard) >= MaxSteers:
		return temporal.NewNonRetryableApplicationError(fmt.Sprintf("the run has %d messages", MaxSteers), TypeTooManySteers, nil)
	}
	return nil
}

// hear adds a message behind the turns so far, and shows it to readers.
func (a *answer) hear(key string) {
	turns := len(a.loop.Turns)
	if a.inTools {
		turns++ // it comes behind the outputs of these
	}
	a.loop.Steers = append(a.loop.Steers, record.Steer{Key: key, Turns: turns})
	a.log.add(stream.TopicMessage, stream.Event{Ref: key})
}

// hearAll adds the messages that came during a model call.
func (a *answer) hearAll() {
	for _, key := range a.unheard {
		a.hear(key)
	}
	a.unheard = nil
}

// callAnew gives a model call up for the messages that came during it. Readers drop its
// words, and the next call considers the messages.
func (a *answer) callAnew(turn, attempt int, words bool) {
	if words {
		a.log.add(stream.TopicReset, stream.Event{Turn: turn, Attempt: attempt, Data: stream.Data(record.ResetData{Attempt: attempt, Reason: "message"})})
	}
	a.log.GiveUp(turn)
	a.loop.GivenUp++
	a.fence = turn
	a.hearAll()
}
