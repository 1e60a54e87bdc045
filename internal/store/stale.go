package store

import (
	"context"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// StaleDocument is a document whose entries in the index may be older than Since.
type StaleDocument struct {
	knowledge.Document
	Since time.Time
}

// StaleInIndex lists published documents whose attributes the index does not have yet,
// the longest stale first. A document id restricts the list to that one.
func (s *Store) StaleInIndex(ctx context.Context, document string, limit int) ([]StaleDocument, error) {
	var rows []documentRow
	q := s.reader.NewSelect().Model(&rows).Where("d.stale_in_index > 0 AND d.published_version > 0")
	if document != "" {
		q = q.Where("d.id = ?", document)
	}
	if err := q.OrderExpr("d.stale_in_index").Limit(int64(limit)).Scan(ctx); err != nil {
		return nil, fmt.Errorf("list documents that are stale in the index: %w", failure(err))
	}
	return decodeRows(rows, func(r *documentRow) (StaleDocument, error) {
		d, err := r.document()
		return StaleDocument{d, fromMicros(r.StaleInIndex)}, err
	})
}

// InIndex stores that the index has the attributes of a document. The document stays
// stale if it was changed or published again since, or if a version is pending, whose
// entries may have been written before the change. A document that is stale no more
// becomes stale again: another process has written its attributes, and these may be
// older ones that were written after them.
func (s *Store) InIndex(ctx context.Context, d StaleDocument) error {
	return s.write(ctx, "note that the index follows document "+d.ID, func(ctx context.Context, tx transaction) error {
		again, err := changed(tx.exec(ctx, "UPDATE documents SET stale_in_index = ? WHERE id = ? AND stale_in_index = 0", micros(s.now()), d.ID))
		if err != nil || again {
			return err
		}
		_, err = tx.NewUpdate().Model((*documentRow)(nil)).Set("stale_in_index = 0").
			Where("id = ? AND stale_in_index = ? AND published_version = ?", d.ID, micros(d.Since), d.PublishedVersion).
			Where("NOT EXISTS (SELECT 1 FROM document_versions AS v WHERE v.document_id = ? AND v.status = 'pending')", d.ID).Exec(ctx)
		return err
	})
}
