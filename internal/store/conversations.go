package store

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// conversationStore has the conversations and their messages.
type conversationStore struct{ *database }

// Conversation is a series of questions and answers. It is its owner's alone.
type Conversation struct {
	ID        string
	Workspace string
	Project   string
	Owner     string
	Title     string
	CreatedAt time.Time
	UpdatedAt time.Time
}

type conversationRow struct {
	bun.BaseModel `bun:"table:conversations,alias:c"`
	Workspace     string `bun:"workspace,pk"`
	ID            string `bun:"id,pk"`
	Project       string `bun:"project"`
	Owner         string `bun:"owner"`
	Title         string `bun:"title"`
	CreatedAt     int64  `bun:"created_at"`
	UpdatedAt     int64  `bun:"updated_at"`
	Summary       string `bun:"summary"`
	Summarized    int64  `bun:"summarized"` // position of the last message that the summary covers
}

func (r conversationRow) conversation() Conversation {
	return Conversation{
		ID: r.ID, Workspace: r.Workspace, Project: r.Project, Owner: r.Owner, Title: r.Title,
		CreatedAt: fromMicros(r.CreatedAt), UpdatedAt: fromMicros(r.UpdatedAt),
	}
}

// EnsureConversation returns the principal's conversation with c.ID, and makes it
// if there is none. One of somebody else is not found.
func (s *conversationStore) EnsureConversation(ctx context.Context, p knowledge.Principal, c Conversation) (Conversation, error) {
	if err := requireWorkspace(p); err != nil {
		return Conversation{}, err
	}
	var row conversationRow
	err := s.write(ctx, "open conversation "+c.ID, func(ctx context.Context, tx transaction) (err error) {
		row, err = ensureConversation(ctx, tx, p, c)
		return err
	})
	if err != nil {
		return Conversation{}, err
	}
	return row.conversation(), nil
}

func ensureConversation(ctx context.Context, tx transaction, p knowledge.Principal, c Conversation) (conversationRow, error) {
	if c.Project != "" && !p.CoversProject(c.Project) {
		return conversationRow{}, knowledge.NotFound("project", c.Project)
	}
	var row conversationRow
	there, err := conversationTable.first(ctx, tx, &row, "c.workspace = ? AND c.id = ?", p.Workspace(), c.ID)
	switch {
	case err != nil:
		return row, err
	case there && (row.Owner != p.Owner() || p.Project() != "" && row.Project != p.Project()):
		return row, knowledge.NotFound("conversation", c.ID)
	case there:
		return row, nil
	}
	created := micros(tx.orNow(c.CreatedAt))
	row = conversationRow{
		Workspace: p.Workspace(), ID: c.ID, Project: c.Project, Owner: p.Owner(), Title: c.Title,
		CreatedAt: created, UpdatedAt: created,
	}
	if err := conversationTable.insert(ctx, tx, &row); err != nil {
		return row, err
	}
	return row, insertWords(ctx, tx, row.Workspace, row.ID, row.Title)
}

// owned holds a query of conversations c to the principal's own.
func owned(q *bun.SelectQuery, p knowledge.Principal) *bun.SelectQuery {
	return within(q, "c", p).Where("c.owner = ?", p.Owner())
}

// Conversation returns one of the principal's conversations.
func (s *conversationStore) Conversation(ctx context.Context, p knowledge.Principal, id string) (Conversation, error) {
	row, err := s.conversation(ctx, p, id)
	return row.conversation(), err
}

func (s *conversationStore) conversation(ctx context.Context, p knowledge.Principal, id string) (row conversationRow, err error) {
	if err := requireWorkspace(p); err != nil {
		return row, err
	}
	there, err := conversationTable.first(ctx, s.reader, &row, "c.workspace = ?1 AND c.id = ?2 AND c.owner = ?3 AND (?4 = '' OR c.project = ?4)",
		p.Workspace(), id, p.Owner(), p.Project())
	switch {
	case err != nil:
		return conversationRow{}, fmt.Errorf("read conversation %s: %w", id, failure(err))
	case !there:
		return conversationRow{}, knowledge.NotFound("conversation", id)
	}
	return row, nil
}

// checkConversation refuses what is attached to a conversation that is not there, such as
// one that was deleted while the file was uploaded: nothing would remove the file. An empty
// id is no conversation.
func checkConversation(ctx context.Context, tx transaction, workspace, id string) error {
	if id == "" {
		return nil
	}
	there, err := tx.NewSelect().Model((*conversationRow)(nil)).Where("c.workspace = ? AND c.id = ?", workspace, id).Exists(ctx)
	if err == nil && !there {
		err = knowledge.NotFound("conversation", id)
	}
	return err
}

// Conversations lists the principal's conversations, newest first.
func (s *conversationStore) Conversations(ctx context.Context, p knowledge.Principal, page Page) ([]Conversation, string, error) {
	if err := requireWorkspace(p); err != nil {
		return nil, "", err
	}
	var rows []conversationRow
	return listConversations(ctx, owned(s.reader.NewSelect().Model(&rows), p), &rows, page)
}

// listConversations returns a page of the conversations of a query, newest first.
func listConversations(ctx context.Context, q *bun.SelectQuery, into *[]conversationRow, page Page) ([]Conversation, string, error) {
	q, limit, err := newestFirst(q, "c", "conversations", page, defaultLimit)
	if err != nil {
		return nil, "", err
	}
	if err := q.Scan(ctx); err != nil {
		return nil, "", fmt.Errorf("list conversations: %w", failure(err))
	}
	rows, cursor := next(*into, limit, func(r conversationRow) position {
		return position{List: "conversations", Order: r.CreatedAt, ID: r.ID}
	})
	return convert(rows, conversationRow.conversation), cursor, nil
}

// RenameConversation gives one of the principal's conversations another title.
func (s *conversationStore) RenameConversation(ctx context.Context, p knowledge.Principal, id, title string) (Conversation, error) {
	row, err := s.conversation(ctx, p, id)
	if err != nil {
		return Conversation{}, err
	}
	err = s.write(ctx, "rename conversation "+id, func(ctx context.Context, tx transaction) error {
		there, err := changed(tx.exec(ctx, "UPDATE conversations SET title = ? WHERE workspace = ? AND id = ? AND owner = ?", title, row.Workspace, id, row.Owner))
		if err == nil && !there {
			err = knowledge.NotFound("conversation", id)
		}
		if err != nil {
			return err
		}
		return dropWords(ctx, tx, row.Workspace, id)
	})
	row.Title = title
	return row.conversation(), err
}

// DeleteConversation deletes one of the principal's conversations, its messages, what was
// said of its answers, and the chunks of older versions that were kept for it alone. Documents that are attached
// to it, which nobody else reaches, are marked as removed: readers find them no more,
// and PendingRemovals lists them.
func (s *conversationStore) DeleteConversation(ctx context.Context, p knowledge.Principal, id string) error {
	if err := requireWorkspace(p); err != nil {
		return err
	}
	return s.write(ctx, "delete conversation "+id, func(ctx context.Context, tx transaction) error {
		there, err := owned(tx.NewSelect().Model((*conversationRow)(nil)), p).Where("c.id = ?", id).Exists(ctx)
		if err != nil {
			return err
		}
		if !there {
			return knowledge.NotFound("conversation", id)
		}
		return dropConversation(ctx, tx, p.Workspace(), p.Owner(), id, s.now())
	})
}

// dropConversation is DeleteConversation for a conversation that is there. owner is of the runs
// of its attachments.
func dropConversation(ctx context.Context, tx transaction, workspace, owner, id string, now time.Time) error {
	if err := markAttachments(ctx, tx, workspace, owner, id, now); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `DELETE FROM chunks WHERE id IN (
			SELECT m.chunk_id FROM message_chunks AS m WHERE m.workspace = ?0 AND m.conversation_id = ?1)
		AND version < (SELECT d.published_version FROM documents AS d WHERE d.id = chunks.document_id)
		AND NOT EXISTS (SELECT 1 FROM message_chunks AS o WHERE o.chunk_id = chunks.id AND NOT (o.workspace = ?0 AND o.conversation_id = ?1))`,
		workspace, id)
	if err != nil {
		return err
	}
	_, err = tx.exec(ctx, "DELETE FROM run_feedback WHERE run_id IN (SELECT r.id FROM runs AS r WHERE r.workspace = ? AND r.conversation_id = ?)", workspace, id)
	if err != nil {
		return err
	}
	_, err = tx.NewDelete().Model((*conversationRow)(nil)).Where("workspace = ? AND id = ?", workspace, id).Exec(ctx)
	return err
}
