package store

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// maxAttached bounds the documents of a conversation that a search looks at: the newest.
const maxAttached = 100

// attached is prepared once, like visibleChunks.
var attached = `SELECT d.id FROM documents AS d
WHERE d.conversation_id = ?4 AND d.conversation_id <> '' AND ` + searched() + ` AND ` + ofProjects5 + ` ORDER BY d.created_at DESC, d.id LIMIT ?6`

// Attached returns the ids of the newest documents, up to 100, that are attached to the
// principal's conversation and published, none without a conversation. Empty projects
// means all that the principal covers.
func (s *documentStore) Attached(ctx context.Context, p knowledge.Principal, projects []string) ([]string, error) {
	if err := requireWorkspace(p); err != nil {
		return nil, err
	}
	conversation := p.ConversationID()
	if conversation == "" {
		return nil, nil
	}
	m, err := s.marks(ctx, p)
	if err != nil {
		return nil, err
	}
	rows, err := s.reader.query(ctx, attached, p.Workspace(), p.Project(), m.list(), conversation, jsonList(projects), maxAttached)
	if err != nil {
		return nil, fmt.Errorf("read what is attached: %w", failure(err))
	}
	defer rows.Close()
	var ids []string
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, fmt.Errorf("read what is attached: %w", failure(err))
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("read what is attached: %w", failure(err))
	}
	return ids, nil
}
