package answering

import (
	"context"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
)

// Conversations is the part of the store that orders and remembers the questions of a
// conversation.
type Conversations interface {
	// RunningBefore returns the id of the workflow of the first run that is running, of the
	// run after and the runs for which after itself waited; "" = none is running.
	RunningBefore(ctx context.Context, workspace, after string) (string, error)
	record.Messages
	// SaveSummary stores what a conversation was about up to one of its messages, unless the
	// stored summary reaches further.
	SaveSummary(ctx context.Context, workspace, conversation, upto, summary string) error
}

// Conversing holds the activities that read the conversation of a question.
type Conversing struct {
	stepLog

	Blobs         step.Blobs
	Conversations Conversations
	chats         *chats
}

// TurnInput asks whether the turn of a question has come.
type TurnInput struct {
	knowledge.RunRef
	After string `json:"after"` // the run of its conversation that it waits for
}

// TurnResult names the workflow that the question still has to wait for, "" = none.
type TurnResult struct {
	Before   string `json:"before,omitempty"`
	Overlong bool   `json:"overlong,omitempty"` // as the request has it
}

// TakeTurn stores the history of a question with its request, once the questions before
// it have been answered. No later question writes to the conversation before this one has
// ended, so a repetition stores the same history.
func (a *Conversing) TakeTurn(ctx context.Context, in TurnInput) (result TurnResult, err error) {
	if result.Before, err = a.Conversations.RunningBefore(ctx, in.Workspace, in.After); err != nil || result.Before != "" {
		return result, a.fail(ctx, in.RunRef, err)
	}
	request, err := record.ReadRequest(ctx, a.Blobs, in.RunRef)
	if err == nil {
		request.History, request.Overlong, err = record.History(ctx, a.Conversations, request.Principal, request.ConversationID, request.Config.AI.History)
		if knowledge.IsCode(err, knowledge.CodeNotFound) { // its owner has deleted it meanwhile
			err = nil
		}
	}
	if err == nil {
		_, err = a.Blobs.PutJSON(ctx, in.RequestKey(), request)
	}
	result.Overlong = request.Overlong
	return result, a.fail(ctx, in.RunRef, err)
}
