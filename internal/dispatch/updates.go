package dispatch

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/workflows"
)

// updatePause is the time before an update that no run of the workflow has accepted is sent
// again.
const updatePause = 100 * time.Millisecond

// Decide sends a run the decision of a person about a tool call. waiting is false if no such
// call waits for a decision.
func (d *Dispatcher) Decide(ctx context.Context, r store.Run, decision record.Decision) (waiting bool, err error) {
	refusal, err := d.update(ctx, r.WorkflowID, workflows.UpdateDecide, decision)
	if refusal == workflows.TypeNotWaiting {
		return false, nil
	}
	return err == nil && refusal == "", wrap(err, "decide about a call of", r.WorkflowID)
}

// Steer sends the answer of a question a message of its person, which is the blob under key.
// It returns CodeConflict if the answer accepts none any more, CodeLimitReached if it has
// accepted as many as it may, and CodeUnavailable if its workflow does not run at the moment.
func (d *Dispatcher) Steer(ctx context.Context, r store.Run, key string) error {
	refusal, err := d.update(ctx, r.WorkflowID, workflows.UpdateSteer, key)
	switch {
	case err != nil:
		return wrap(err, "steer", r.WorkflowID)
	case refusal == typeClosed:
		return knowledge.Errorf(knowledge.CodeUnavailable, "the run is starting, or ends at this moment; try again shortly")
	case refusal == workflows.TypeTooManySteers:
		return knowledge.Errorf(knowledge.CodeLimitReached, "this answer has %d messages already, which is the limit: wait for it, and ask your next question", workflows.MaxSteers)
	case refusal != "":
		return knowledge.Errorf(knowledge.CodeConflict, "the answer is complete, or a webhook of the project gives it: ask your next question in its conversation instead")
	}
	return nil
}

// typeClosed is the refusal of an update of a workflow that is closed or never was.
const typeClosed = "closed"

// update sends an update to a workflow until it is accepted or refused, and waits for its
// result. refusal is the type of the error with which the workflow refused it.
//
// Temporal forgets an update that no worker has accepted yet, for example when the worker that
// had received it is dead, or when the workflow continues as new. One that was accepted is
// known by its id.
func (d *Dispatcher) update(ctx context.Context, workflowID, name string, argument any) (refusal string, err error) {
	update := client.UpdateWorkflowOptions{
		UpdateID: knowledge.NewID(), WorkflowID: workflowID, UpdateName: name, Args: []any{argument},
		WaitForStage: client.WorkflowUpdateStageCompleted,
	}
	for {
		err := d.sendUpdate(ctx, update)
		if err == nil {
			return "", nil
		}
		refused, ok := errors.AsType[*temporal.ApplicationError](err)
		switch {
		case ok && refused.Type() == workflows.TypeMoving:
			update.UpdateID = knowledge.NewID() // this one is known as refused
		case ok && slices.Contains([]string{workflows.TypeNotWaiting, workflows.TypeNotSteerable, workflows.TypeTooManySteers}, refused.Type()):
			return refused.Type(), nil
		case !isMissing(err):
			return "", err
		default:
			if running, _, err := d.Running(ctx, workflowID); err != nil || !running {
				return typeClosed, err
			}
		}
		select {
		case <-time.After(updatePause):
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

// sendUpdate sends an update to a workflow and waits for its result.
func (d *Dispatcher) sendUpdate(ctx context.Context, update client.UpdateWorkflowOptions) error {
	handle, err := d.client.UpdateWorkflow(ctx, update)
	if err != nil {
		return err
	}
	return handle.Get(ctx, nil)
}
