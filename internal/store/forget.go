package store

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// DocumentWords passes the texts of the chunks of all versions of a document to use. Of a
// document that was removed there are none. A document that the principal may not change is
// not found.
func (s *documentStore) DocumentWords(ctx context.Context, p knowledge.Principal, document string, use func(text string)) error {
	if err := requireWrite(p); err != nil {
		return err
	}
	there, err := within(s.reader.NewSelect().Model((*documentRow)(nil)), "d", p).Where("d.id = ?", document).Exists(ctx)
	switch {
	case err != nil:
		return fmt.Errorf("read document %s: %w", document, failure(err))
	case !there:
		return knowledge.NotFound("document", document)
	}
	return s.WordsForSystem(ctx, p.Workspace(), document, use)
}

// WordsForSystem is DocumentWords for documents that the server removes.
func (s *documentStore) WordsForSystem(ctx context.Context, workspace, document string, use func(text string)) error {
	for last := ""; ; {
		var rows []chunkRow
		err := s.reader.NewSelect().Model(&rows).Column("c.id", "c.body").
			Where("c.document_id = ? AND c.workspace = ? AND c.id > ?", document, workspace, last).OrderExpr("c.id").Limit(wordsPage).Scan(ctx)
		if err != nil {
			return fmt.Errorf("read the chunks of document %s: %w", document, failure(err))
		}
		for _, row := range rows {
			use(row.Body)
		}
		if len(rows) < wordsPage {
			return nil
		}
		last = rows[len(rows)-1].ID
	}
}

// wordsPage is the number of chunks that DocumentWords reads at once.
const wordsPage = 500

// EndedAnswers lists the questions, researches and tool calls of a workspace that have
// ended, by id, from the first behind after.
func (s *runStore) EndedAnswers(ctx context.Context, workspace, after string, limit int) ([]Run, error) {
	var rows []runRow
	err := s.reader.NewSelect().Model(&rows).Where("r.workspace = ? AND r.id > ? AND r.status <> ? AND r.kind IN (?)",
		workspace, after, knowledge.RunRunning, bun.List(knowledge.AnswerKinds())).OrderExpr("r.id").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("list ended answers: %w", failure(err))
	}
	return decodeRows(rows, (*runRow).run)
}

// AnswerMessages lists the answers that a run left in its conversation.
func (s *conversationStore) AnswerMessages(ctx context.Context, r Run) ([]Message, error) {
	var rows []messageRow
	err := s.reader.NewSelect().Model(&rows).Where("m.workspace = ? AND m.conversation_id = ? AND m.run_id = ? AND m.role = 'assistant'",
		r.Workspace, r.ConversationID, r.ID).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the answer of run %s: %w", r.ID, failure(err))
	}
	return decodeRows(rows, (*messageRow).message)
}

// RewriteMessage replaces the words of an answer, and deletes the summary of its conversation,
// which may repeat them.
func (s *conversationStore) RewriteMessage(ctx context.Context, workspace string, m Message) error {
	return s.write(ctx, "rewrite message "+m.ID, func(ctx context.Context, tx transaction) error {
		if _, err := tx.exec(ctx, "UPDATE messages SET body = ? WHERE workspace = ? AND id = ?", m.Text, workspace, m.ID); err != nil {
			return err
		}
		if _, err := tx.exec(ctx, "UPDATE conversations SET summary = '', summarized = 0 WHERE workspace = ? AND id = ?", workspace, m.ConversationID); err != nil {
			return err
		}
		return dropWords(ctx, tx, workspace, m.ConversationID)
	})
}
