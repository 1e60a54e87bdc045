package store

import (
	"context"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// AcknowledgeFailure stores that a person knows of the failure of a document's newest
// version, or with undo that nobody does. A later failure is not acknowledged, also one of
// the same version after a retry. A document that has not failed is a conflict.
func (s *documentStore) AcknowledgeFailure(ctx context.Context, p knowledge.Principal, id string, undo bool) error {
	if err := requireWrite(p); err != nil {
		return err
	}
	return s.write(ctx, "acknowledge the failure of document "+id, func(ctx context.Context, tx transaction) error {
		doc, err := managed(ctx, tx, p, id)
		if err != nil {
			return err
		}
		if !doc.failed() {
			return knowledge.Errorf(knowledge.CodeConflict, "this document has not failed: there is nothing to acknowledge")
		}
		version := doc.Version
		if undo {
			version = 0
		}
		_, err = tx.exec(ctx, "UPDATE documents SET acknowledged_version = ? WHERE id = ?", version, id)
		return err
	})
}
