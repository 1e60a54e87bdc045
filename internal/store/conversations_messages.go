package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Message is a question or an answer of a conversation.
type Message struct {
	ID             string
	ConversationID string
	RunID          string
	Role           string // user or assistant
	Text           string
	Sources        json.RawMessage
	ChunkIDs       []string // that it cites
	Status         string   // completed, failed or canceled
	CreatedAt      time.Time
}

type messageRow struct {
	bun.BaseModel  `bun:"table:messages,alias:m"`
	Workspace      string `bun:"workspace,pk"`
	ID             string `bun:"id,pk"`
	ConversationID string `bun:"conversation_id"`
	Position       int64  `bun:"position"` // in its conversation, 1 = first
	RunID          string `bun:"run_id"`
	Role           string `bun:"role"`
	Body           string `bun:"body"`
	Sources        string `bun:"sources"`
	ChunkIDs       string `bun:"chunk_ids"`
	Status         string `bun:"status"`
	CreatedAt      int64  `bun:"created_at"`
}

func (r messageRow) message() (Message, error) {
	m := Message{
		ID: r.ID, ConversationID: r.ConversationID, RunID: r.RunID, Role: r.Role, Text: r.Body,
		Status: r.Status, CreatedAt: fromMicros(r.CreatedAt),
	}
	if r.Sources != "" {
		m.Sources = json.RawMessage(r.Sources)
	}
	if err := decode(field{r.ChunkIDs, &m.ChunkIDs}); err != nil {
		return m, fmt.Errorf("decode message %s: %w", r.ID, err)
	}
	return m, nil
}

// SaveMessages stores messages in the order given, all or none; one whose id is
// there is replaced and keeps its place. It remembers which chunks they cite. A
// conversation that does not exist (any more) is not found.
func (s *conversationStore) SaveMessages(ctx context.Context, workspace string, list ...Message) error {
	return s.write(ctx, "save messages", func(ctx context.Context, tx transaction) error {
		for _, m := range list {
			m.CreatedAt = s.orNow(m.CreatedAt)
			there, err := saveMessage(ctx, tx, workspace, m)
			if err == nil && !there {
				err = knowledge.NotFound("conversation", m.ConversationID)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// saveMessage stores a message. It reports whether its conversation is there;
// without one it writes nothing.
func saveMessage(ctx context.Context, tx transaction, workspace string, m Message) (there bool, err error) {
	created := micros(m.CreatedAt)
	there, err = changed(tx.exec(ctx, "UPDATE conversations SET updated_at = ? WHERE workspace = ? AND id = ?", created, workspace, m.ConversationID))
	if err != nil || !there {
		return false, err
	}
	chunks := unique(m.ChunkIDs)
	chunkIDs, err := encode(chunks)
	if err != nil {
		return true, err
	}
	row := messageRow{
		Workspace: workspace, ID: m.ID, ConversationID: m.ConversationID, RunID: m.RunID, Role: m.Role, Body: m.Text,
		Sources: string(m.Sources), ChunkIDs: chunkIDs, Status: m.Status, CreatedAt: created,
	}
	if err := upsertMessage(ctx, tx, &row); err != nil {
		return true, err
	}
	if err := addWords(ctx, tx, workspace, m.ConversationID, m.Text); err != nil {
		return true, err
	}
	if _, err := tx.exec(ctx, "DELETE FROM message_chunks WHERE workspace = ? AND message_id = ?", workspace, m.ID); err != nil {
		return true, err
	}
	for _, chunk := range chunks {
		_, err := tx.exec(ctx, "INSERT INTO message_chunks (chunk_id, workspace, message_id, conversation_id) VALUES (?, ?, ?, ?)",
			chunk, workspace, m.ID, m.ConversationID)
		if err != nil {
			return true, err
		}
	}
	return true, nil
}

// upsertMessage writes a message at its place, which is the end if it is new. A
// message of another conversation with this id is a conflict.
func upsertMessage(ctx context.Context, tx transaction, row *messageRow) error {
	var last int64
	_, err := first(ctx, tx, []any{&last}, "SELECT COALESCE(MAX(position), 0) FROM messages WHERE workspace = ? AND conversation_id = ?", row.Workspace, row.ConversationID)
	if err != nil {
		return err
	}
	row.Position = last + 1
	written, err := changed(tx.exec(ctx, messageTable.inserts+` ON CONFLICT (workspace, id) DO UPDATE
		SET run_id = EXCLUDED.run_id, role = EXCLUDED.role, body = EXCLUDED.body, sources = EXCLUDED.sources,
			chunk_ids = EXCLUDED.chunk_ids, status = EXCLUDED.status
		WHERE messages.conversation_id = EXCLUDED.conversation_id`, messageTable.values(row)...))
	if err == nil && !written {
		err = knowledge.Errorf(knowledge.CodeConflict, "message %q belongs to another conversation", row.ID)
	}
	return err
}

// Messages lists the messages of one of the principal's conversations, oldest
// first.
func (s *conversationStore) Messages(ctx context.Context, p knowledge.Principal, conversationID string, page Page) ([]Message, string, error) {
	return s.listMessages(ctx, p, conversationID, "ASC", page)
}

// LatestMessages is Messages, newest first.
func (s *conversationStore) LatestMessages(ctx context.Context, p knowledge.Principal, conversationID string, page Page) ([]Message, string, error) {
	return s.listMessages(ctx, p, conversationID, "DESC", page)
}

func (s *conversationStore) listMessages(ctx context.Context, p knowledge.Principal, conversationID, direction string, page Page) ([]Message, string, error) {
	if _, err := s.Conversation(ctx, p, conversationID); err != nil {
		return nil, "", err
	}
	var rows []messageRow
	list := "messages " + direction
	q, limit, err := inOrder(s.messagesOf(&rows, p, conversationID), "m.position", direction, list, page)
	if err != nil {
		return nil, "", err
	}
	if err := q.Scan(ctx); err != nil {
		return nil, "", fmt.Errorf("list messages of conversation %s: %w", conversationID, failure(err))
	}
	rows, cursor := next(rows, limit, func(r messageRow) position {
		return position{List: list, Order: r.Position}
	})
	messages, err := decodeRows(rows, (*messageRow).message)
	return messages, cursor, err
}

func (s *conversationStore) messagesOf(rows *[]messageRow, p knowledge.Principal, conversationID string) *bun.SelectQuery {
	return s.reader.NewSelect().Model(rows).Where("m.workspace = ? AND m.conversation_id = ?", p.Workspace(), conversationID)
}
