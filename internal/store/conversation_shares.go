package store

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// maxShares bounds the links of a conversation.
const maxShares = 100

type shareRow struct {
	bun.BaseModel  `bun:"table:conversation_shares,alias:s"`
	Workspace      string `bun:"workspace,pk"`
	ConversationID string `bun:"conversation_id,pk"`
	ID             string `bun:"id,pk"`
	CreatedAt      int64  `bun:"created_at"`
	ExpiresAt      int64  `bun:"expires_at"`
}

func (r shareRow) share() knowledge.Share {
	return knowledge.Share{ID: r.ID, Conversation: r.ConversationID, CreatedAt: fromMicros(r.CreatedAt), ExpiresAt: fromMicros(r.ExpiresAt)}
}

// AddShare stores a link to one of the principal's conversations, and deletes those that have
// ended.
func (s *conversationStore) AddShare(ctx context.Context, p knowledge.Principal, share knowledge.Share) error {
	if _, err := s.conversation(ctx, p, share.Conversation); err != nil {
		return err
	}
	row := shareRow{Workspace: p.Workspace(), ConversationID: share.Conversation, ID: share.ID, CreatedAt: micros(share.CreatedAt), ExpiresAt: micros(share.ExpiresAt)}
	return s.write(ctx, "share conversation "+share.Conversation, func(ctx context.Context, tx transaction) error {
		if err := checkConversation(ctx, tx, row.Workspace, row.ConversationID); err != nil {
			return err
		}
		if _, err := tx.exec(ctx, "DELETE FROM conversation_shares WHERE workspace = ? AND conversation_id = ? AND expires_at <= ?", row.Workspace, row.ConversationID, micros(s.now())); err != nil {
			return err
		}
		count, err := tx.NewSelect().Model((*shareRow)(nil)).Where("s.workspace = ? AND s.conversation_id = ?", row.Workspace, row.ConversationID).Count(ctx)
		if err == nil && count >= maxShares {
			err = knowledge.Errorf(knowledge.CodeLimitReached, "this conversation has %d links, which is the limit: withdraw one of them", count)
		}
		if err != nil {
			return err
		}
		return shareTable.insert(ctx, tx, &row)
	})
}

// Shares lists the links to one of the principal's conversations that have not ended, newest
// first.
func (s *conversationStore) Shares(ctx context.Context, p knowledge.Principal, conversation string) ([]knowledge.Share, error) {
	if _, err := s.conversation(ctx, p, conversation); err != nil {
		return nil, err
	}
	rows, err := shareTable.all(ctx, s.reader, "s.workspace = ? AND s.conversation_id = ? AND s.expires_at > ? ORDER BY s.created_at DESC, s.id", p.Workspace(), conversation, micros(s.now()))
	if err != nil {
		return nil, fmt.Errorf("list the links to conversation %s: %w", conversation, failure(err))
	}
	return convert(rows, shareRow.share), nil
}

// Share returns a link to one of the principal's conversations. One that has ended, or was
// withdrawn, is CodeNotFound.
func (s *conversationStore) Share(ctx context.Context, p knowledge.Principal, conversation, id string) (knowledge.Share, error) {
	if _, err := s.conversation(ctx, p, conversation); err != nil {
		return knowledge.Share{}, err
	}
	var row shareRow
	there, err := shareTable.first(ctx, s.reader, &row, "s.workspace = ? AND s.conversation_id = ? AND s.id = ? AND s.expires_at > ?", p.Workspace(), conversation, id, micros(s.now()))
	switch {
	case err != nil:
		return knowledge.Share{}, fmt.Errorf("read the link %s: %w", id, failure(err))
	case !there:
		return knowledge.Share{}, knowledge.NotFound("link", id)
	}
	return row.share(), nil
}

// WithdrawShare ends a link to one of the principal's conversations.
func (s *conversationStore) WithdrawShare(ctx context.Context, p knowledge.Principal, conversation, id string) error {
	if _, err := s.conversation(ctx, p, conversation); err != nil {
		return err
	}
	return s.write(ctx, "withdraw link "+id, func(ctx context.Context, tx transaction) error {
		there, err := changed(tx.exec(ctx, "DELETE FROM conversation_shares WHERE workspace = ? AND conversation_id = ? AND id = ?", p.Workspace(), conversation, id))
		if err == nil && !there {
			err = knowledge.NotFound("link", id)
		}
		return err
	})
}
