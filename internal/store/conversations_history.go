package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// History is what a model is reminded of in a conversation.
type History struct {
	Summary  string    // of the messages up to some message, "" = of none
	Messages []Message // behind those, oldest first
	More     bool      // there are messages between the summary and Messages
}

// History returns the summary of one of the principal's conversations, and the last n
// messages behind it.
func (s *conversationStore) History(ctx context.Context, p knowledge.Principal, conversation string, n int) (History, error) {
	talk, err := s.conversation(ctx, p, conversation)
	if err != nil || n <= 0 {
		return History{Messages: []Message{}}, err
	}
	rows, err := messageTable.all(ctx, s.reader, "m.workspace = ? AND m.conversation_id = ? AND m.position > ? ORDER BY m.position DESC LIMIT ?",
		p.Workspace(), conversation, talk.Summarized, n+1)
	if err != nil {
		return History{}, fmt.Errorf("read messages of conversation %s: %w", conversation, failure(err))
	}
	h := History{Summary: talk.Summary, More: len(rows) > n}
	rows = rows[:min(n, len(rows))]
	slices.Reverse(rows)
	h.Messages, err = decodeRows(rows, (*messageRow).message)
	return h, err
}

// SaveSummary stores what a conversation was about up to one of its messages. It changes
// nothing if the stored summary reaches further, or if the message is gone.
func (s *conversationStore) SaveSummary(ctx context.Context, workspace, conversation, upto, summary string) error {
	return s.write(ctx, "save the summary of conversation "+conversation, func(ctx context.Context, tx transaction) error {
		var position int64
		there, err := first(ctx, tx, []any{&position}, "SELECT position FROM messages WHERE workspace = ? AND conversation_id = ? AND id = ?", workspace, conversation, upto)
		if err != nil || !there {
			return err
		}
		_, err = tx.exec(ctx, "UPDATE conversations SET summary = ?, summarized = ? WHERE workspace = ? AND id = ? AND summarized < ?",
			summary, position, workspace, conversation, position)
		return err
	})
}
