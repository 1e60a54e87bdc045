package store

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// retriesPerBatch is how many retried objects one transaction settles.
const retriesPerBatch = 200

// FailedObjects returns the failed objects of an import whose keys come after one,
// at most limit, in their order.
func (s *importStore) FailedObjects(ctx context.Context, i Import, after string, limit int) ([]ImportFailure, error) {
	rows, err := importFailureTable.all(ctx, s.reader, `f.import = ? AND f.key > ? AND EXISTS (
		SELECT 1 FROM import_objects AS o WHERE o.source_id = ? AND o.key = f.key AND o.import = f.import AND o.outcome = 'failed')
		ORDER BY f.key LIMIT ?`, i.Number, after, i.Source, limit)
	if err != nil {
		return nil, fmt.Errorf("list failed objects of import %s: %w", i.Import, failure(err))
	}
	return decodeRows(rows, (*importFailureRow).failure)
}

// RetriedObject is a failed object that has a version again, which a workflow
// ingests.
type RetriedObject struct {
	Key         string
	ETag        string
	Fingerprint string
	Version     int
}

// MarkRetried stores that a failed object is retried: it is no longer counted as
// failed, until SettleRetried stores what became of it. Repeating it changes nothing.
func (s *importStore) MarkRetried(ctx context.Context, i Import, o RetriedObject) error {
	return s.write(ctx, "retry "+o.Key, func(ctx context.Context, tx transaction) error {
		open, err := changed(tx.exec(ctx, "UPDATE import_objects SET outcome = 'retrying', version = ? WHERE source_id = ? AND key = ? AND import = ? AND outcome = 'failed'",
			o.Version, i.Source, o.Key, i.Number))
		if err != nil || !open {
			return err
		}
		_, err = tx.exec(ctx, "UPDATE import_failures SET etag = ?, fingerprint = ?, version = ? WHERE import = ? AND key = ?", o.ETag, o.Fingerprint, o.Version, i.Number, o.Key)
		if err != nil {
			return err
		}
		return addCounts(ctx, tx, i.Number, knowledge.ImportCounts{Failed: -1}, micros(s.now()))
	})
}

// SettleRetried stores what became of retried objects whose ingestion has ended, and
// returns how many have not. Repeating it counts nothing twice.
func (s *importStore) SettleRetried(ctx context.Context, i Import) (left int, err error) {
	for after := ""; ; {
		rows, err := objectTable.all(ctx, s.reader, "o.import = ? AND o.outcome = 'retrying' AND o.key > ? ORDER BY o.key LIMIT ?", i.Number, after, retriesPerBatch)
		if err != nil {
			return left, fmt.Errorf("list retried objects of import %s: %w", i.Import, failure(err))
		}
		if len(rows) == 0 {
			return left, nil
		}
		after = rows[len(rows)-1].Key
		waiting := 0
		err = s.write(ctx, "settle retried objects of import "+i.Import, func(ctx context.Context, tx transaction) error {
			waiting = 0
			w := recording{Import: i, store: s}
			for n := range rows {
				settled, err := w.settleRetried(ctx, tx, &rows[n])
				if err != nil {
					return err
				}
				if !settled {
					waiting++
				}
			}
			if w.counts == (knowledge.ImportCounts{}) {
				return nil
			}
			return addCounts(ctx, tx, i.Number, w.counts, micros(s.now()))
		})
		if err != nil {
			return left, err
		}
		left += waiting
	}
}

// settleRetried stores what became of one object. It reports whether its ingestion
// has ended.
func (w *recording) settleRetried(ctx context.Context, tx transaction, o *objectRow) (bool, error) {
	ref := knowledge.VersionRef{Workspace: w.Workspace, Project: w.Project, Document: o.DocumentID, Version: o.Version}
	var v versionRow
	err := loadVersion(ctx, tx, ref, &v)
	gone := knowledge.IsCode(err, knowledge.CodeNotFound)
	if err != nil && !gone {
		return false, err
	}
	outcome := outcomePublished // also of a version that was published and replaced meanwhile
	switch {
	case gone || v.Version <= v.RemovingUpto:
		outcome = outcomeSkipped
	case v.Status == string(knowledge.StatusPending):
		return false, nil
	case v.Status == string(knowledge.StatusError):
		outcome = outcomeFailed
	}
	open, err := changed(tx.exec(ctx, "UPDATE import_objects SET outcome = ? WHERE source_id = ? AND key = ? AND import = ? AND outcome = 'retrying'", outcome, w.Source, o.Key, w.Number))
	if err != nil || !open {
		return true, err
	}
	switch outcome {
	case outcomeFailed:
		w.counts.Failed++
		_, err = tx.exec(ctx, "UPDATE import_failures SET error = ?, created_at = ? WHERE import = ? AND key = ?", v.Error, micros(w.store.now()), w.Number, o.Key)
		return true, err
	case outcomeSkipped:
		w.counts.Skipped++
	default:
		w.counts.Published++
		w.counts.Bytes += v.Bytes
		_, err = tx.exec(ctx, `UPDATE import_objects SET (etag, fingerprint) = (SELECT f.etag, f.fingerprint FROM import_failures AS f WHERE f.import = ?1 AND f.key = ?2)
			WHERE source_id = ?3 AND key = ?2`, w.Number, o.Key, w.Source)
		if err != nil {
			return true, err
		}
	}
	_, err = tx.exec(ctx, "DELETE FROM import_failures WHERE import = ? AND key = ?", w.Number, o.Key)
	return true, err
}
