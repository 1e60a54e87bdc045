package workflows

import (
	"fmt"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/record"
)

const (
	// UpdateDecide is the update that decides about a tool call which waits for a person.
	UpdateDecide = "cairn_decide"
	// TypeNotWaiting is the type of the error of a decision about a call that does not
	// wait for one.
	TypeNotWaiting = "NotWaiting"
)

// takeDecisions registers the handler of decisions. It refuses those about calls that do
// not wait, so whoever decides second is told.
func (a *answer) takeDecisions(ctx workflow.Context) error {
	err := workflow.SetUpdateHandlerWithOptions(ctx, UpdateDecide, func(_ workflow.Context, d record.Decision) error {
		a.decisions[d.Call] = &d
		return nil
	}, workflow.UpdateHandlerOptions{Validator: func(d record.Decision) error {
		if decided, waits := a.decisions[d.Call]; !waits || decided != nil {
			return temporal.NewNonRetryableApplicationError("the call does not wait for a decision", TypeNotWaiting, nil)
		}
		return nil
	}})
	if err != nil {
		return fmt.Errorf("set update handler: %w", err)
	}
	return nil
}

// approved returns at once for a call that needs no approval. Otherwise it waits, for days
// if need be, until a person has decided. A refusal is the output of the call.
func (a *answer) approved(ctx workflow.Context, key string, i int, call answering.ToolCallRef) (record.ToolOutput, error) {
	if !call.Approval {
		return record.ToolOutput{}, nil
	}
	a.decisions[call.ID] = nil
	defer delete(a.decisions, call.ID)
	workflow.SetCurrentDetails(ctx, call.Name+" waits for an approval")
	if err := workflow.Await(ctx, func() bool { return a.decisions[call.ID] != nil }); err != nil {
		return record.ToolOutput{}, err
	}
	if refusal := a.decisions[call.ID].Refusal; refusal != "" {
		return record.ToolOutput{Words: refusal, Refused: true}, nil
	}
	a.toolEvent(ctx, key, i, call, record.CallStarted, record.ToolOutput{}, 0)
	return record.ToolOutput{}, nil
}
