package activities

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/prompt"
	"github.com/cairn-rag/cairn/internal/store"
)

// Conversations is the part of the store that orders and remembers the questions of a
// conversation.
type Conversations interface {
	// RunningBefore returns the workflow of the run that a run which waits for after has to
	// wait for now, "" = none.
	RunningBefore(ctx context.Context, workspace, after string) (string, error)
	Messages
	// SaveSummary stores what a conversation was about up to one of its messages, unless the
	// stored summary reaches further.
	SaveSummary(ctx context.Context, workspace, conversation, upto, summary string) error
}

// Messages reads conversations.
type Messages interface {
	// History returns the summary of the principal's conversation, and its last n messages
	// behind it, oldest first.
	History(ctx context.Context, p knowledge.Principal, conversation string, n int) (store.History, error)
}

// TurnInput asks whether the turn of a question has come.
type TurnInput struct {
	knowledge.RunRef
	After string `json:"after"` // the run of its conversation that it waits for
}

// TurnResult names the workflow that the question still has to wait for, "" = none.
type TurnResult struct {
	Before   string `json:"before,omitempty"`
	Overlong bool   `json:"overlong,omitempty"` // that of the request
}

// TakeTurn stores the history of a question with its request, once the questions before
// it have been answered. No later question writes to the conversation before this one has
// ended, so a repetition stores the same history.
func (a *Answering) TakeTurn(ctx context.Context, in TurnInput) (result TurnResult, err error) {
	if result.Before, err = a.Conversations.RunningBefore(ctx, in.Workspace, in.After); err != nil || result.Before != "" {
		return result, a.fail(ctx, in.RunRef, err)
	}
	request, err := ReadRequest(ctx, a.Blobs, in.RunRef)
	if err == nil {
		request.History, request.Overlong, err = History(ctx, a.Conversations, request.Principal, request.ConversationID, request.Config.AI.History)
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

// History returns the messages of a conversation that the model is shown: its summary, if it
// has one, and the newest messages behind it that are within the limits. overlong reports that
// messages between the two are left out.
func History(ctx context.Context, m Messages, p knowledge.Principal, conversation string, limits knowledge.HistoryConfig) (list []knowledge.Message, overlong bool, err error) {
	h, err := m.History(ctx, p, conversation, *limits.Messages)
	if err != nil {
		return nil, false, fmt.Errorf("read conversation %s: %w", conversation, err)
	}
	var start []knowledge.Message
	if h.Summary != "" {
		start = append(start, prompt.Summarized(h.Summary))
	}
	said := shown(h.Messages)
	newest := prompt.History(said, limits.Tokens)
	return append(start, newest...), h.More || len(newest) < len(said), nil
}

// shown returns messages as the model is shown them, without those that have no words.
func shown(messages []store.Message) []knowledge.Message {
	list := make([]knowledge.Message, 0, len(messages))
	for _, m := range messages {
		if m.Text != "" {
			list = append(list, knowledge.Message{Role: m.Role, Content: prompt.WithoutReflection(citation.Strip(m.Text))})
		}
	}
	return list
}
