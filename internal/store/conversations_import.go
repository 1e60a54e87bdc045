package store

import (
	"context"
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// ImportConversation makes the principal's conversation with c.ID of messages that come from
// elsewhere, and reports whether that changed anything. One that is there gets the messages
// in the place of those it has, unless it has them already, or was continued by a question
// here. One of somebody else is not found.
func (s *conversationStore) ImportConversation(ctx context.Context, p knowledge.Principal, c Conversation, messages []Message) (_ Conversation, changed bool, err error) {
	if err := requireWorkspace(p); err != nil {
		return Conversation{}, false, err
	}
	var row conversationRow
	err = s.write(ctx, "import conversation "+c.ID, func(ctx context.Context, tx transaction) (err error) {
		if row, err = ensureConversation(ctx, tx, p, c); err != nil {
			return err
		}
		there, err := messageTable.all(ctx, tx, "m.workspace = ? AND m.conversation_id = ? ORDER BY m.position", row.Workspace, row.ID)
		if err != nil {
			return err
		}
		if changed = !asked(there) && !sameMessages(there, messages); !changed {
			return nil
		}
		if _, err := tx.exec(ctx, "DELETE FROM messages WHERE workspace = ? AND conversation_id = ?", row.Workspace, row.ID); err != nil {
			return err
		}
		if err := dropWords(ctx, tx, row.Workspace, row.ID); err != nil {
			return err
		}
		for _, m := range messages {
			m.ConversationID, m.RunID = row.ID, ""
			if _, err := saveMessage(ctx, tx, row.Workspace, m); err != nil {
				return err
			}
			row.UpdatedAt = micros(m.CreatedAt)
		}
		return nil
	})
	return row.conversation(), changed, err
}

// asked reports whether some of the messages are of a run: somebody asked here.
func asked(rows []messageRow) bool {
	return slices.ContainsFunc(rows, func(r messageRow) bool { return r.RunID != "" })
}

func sameMessages(rows []messageRow, messages []Message) bool {
	return slices.EqualFunc(rows, messages, func(r messageRow, m Message) bool {
		return r.ID == m.ID && r.Role == m.Role && r.Body == m.Text && r.CreatedAt == micros(m.CreatedAt)
	})
}
