package store

import (
	"context"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// One process at a time writes the attributes of a document to the index, so that older
// ones are never written last. It has a lease of indexLease, and may write for
// indexPatience of it.
const (
	indexLease    = 30 * time.Second
	indexPatience = 20 * time.Second
)

// StaleDocument is a document whose entries in the index may be older than its
// attributes.
type StaleDocument struct {
	knowledge.Document
	Change   int64         // number of the newest change, which its attributes have
	Patience time.Duration // within which the index must be written
}

// StaleInIndex lists the ids of published documents whose attributes the index does not
// have yet, the longest stale first.
func (s *documentStore) StaleInIndex(ctx context.Context, limit int) ([]string, error) {
	var ids []string
	err := s.reader.NewSelect().Model((*documentRow)(nil)).Column("id").Where("d.stale_in_index > 0 AND d.published_version > 0").
		OrderExpr("d.stale_in_index").Limit(int64(limit)).Scan(ctx, &ids)
	if err != nil {
		return nil, fmt.Errorf("list documents that are stale in the index: %w", failure(err))
	}
	return ids, nil
}

// LeaseStale makes this store the one that writes the attributes of a document to the
// index. leased is false if the index has them, or another process is writing them: that
// process finds a newer change when it calls InIndex.
func (s *documentStore) LeaseStale(ctx context.Context, document string) (d StaleDocument, leased bool, err error) {
	const stale = "d.id = ? AND d.stale_in_index > 0 AND d.published_version > 0"
	var row documentRow
	if leased, err = documentTable.first(ctx, s.reader, &row, stale, document); err != nil || !leased {
		return d, false, failure(err)
	}
	now := s.now()
	if row.IndexWriter != s.id || row.IndexWriterUntil < micros(now.Add(indexPatience)) {
		err = s.write(ctx, "lease the index entries of document "+document, func(ctx context.Context, tx transaction) error {
			row = documentRow{}
			if leased, err = documentTable.first(ctx, tx, &row, stale, document); err != nil || !leased {
				return err
			}
			if leased = row.leaseIndex(s.id, now); !leased {
				return nil
			}
			_, err := tx.exec(ctx, "UPDATE documents SET index_writer = ?, index_writer_until = ? WHERE id = ?", row.IndexWriter, row.IndexWriterUntil, document)
			return err
		})
	}
	if err != nil || !leased {
		return d, false, err
	}
	d = StaleDocument{Change: row.IndexChange, Patience: indexPatience}
	d.Document, err = row.document()
	return d, err == nil, err
}

// leaseIndex sets the process that may write the document's index entries, and until
// when. It returns false if another process has that lease. A lease that ends later than
// any lease could was written by a clock that was wrong, and holds nobody up.
func (r *documentRow) leaseIndex(process string, now time.Time) bool {
	held := r.IndexWriterUntil > micros(now) && r.IndexWriterUntil <= micros(now.Add(indexLease+maxSkew))
	if r.IndexWriter != "" && r.IndexWriter != process && held {
		return false
	}
	r.IndexWriter, r.IndexWriterUntil = process, micros(now.Add(indexLease))
	return true
}

// InIndex stores that the index has the attributes of a document that LeaseStale
// returned, and ends the lease. again reports that the document was changed or published
// since: the lease stays, and the caller writes the index again. While a version is
// pending, whose entries may have been written before the change, the document stays
// stale. A process that has lost its lease may have written older attributes last:
// the present owner, or the next one, then writes again.
func (s *documentStore) InIndex(ctx context.Context, d StaleDocument) (again bool, err error) {
	err = s.write(ctx, "note that the index follows document "+d.ID, func(ctx context.Context, tx transaction) error {
		again = false
		var row documentRow
		there, err := documentTable.first(ctx, tx, &row, "d.id = ?", d.ID)
		switch {
		case err != nil || !there:
			return err
		case row.IndexWriter != s.id:
			_, err = tx.exec(ctx, "UPDATE documents SET index_change = index_change + 1, stale_in_index = ? WHERE id = ?", micros(s.now()), d.ID)
			return err
		case row.IndexChange != d.Change || row.PublishedVersion != d.PublishedVersion:
			again = true
			return nil
		}
		_, err = tx.exec(ctx, `UPDATE documents SET index_writer = '', index_writer_until = 0,
			stale_in_index = CASE WHEN EXISTS (SELECT 1 FROM document_versions AS v WHERE v.document_id = documents.id AND v.status = 'pending') THEN stale_in_index ELSE 0 END
			WHERE id = ?`, d.ID)
		return err
	})
	return again, err
}
