package store

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Facts is what the pipeline finds out about a version. Zero leaves a fact as
// it is.
type Facts struct {
	MediaType  string
	Language   string
	Bytes      int64
	ChunkCount int
	PageCount  int
	Warnings   []knowledge.Warning // what was read with doubt
	// Metadata and Tags were found in the file or by a model. They are added to those
	// of the version; a key that it has already keeps its value.
	Metadata map[string]any
	Tags     []string
}

// BeginVersion marks a version as begun and stores the offset at which its run's
// events begin in the workflow's log. It changes nothing, and returns the version
// as it is, if the version belongs to another run by now, has ended, is being
// removed, or waits for a removal. A version that is older than the published one
// ends. Repeating it has the same result.
func (s *versionStore) BeginVersion(ctx context.Context, ref knowledge.VersionRef, runID string, firstOffset int64) (Version, error) {
	var row versionRow
	doing := fmt.Sprintf("begin version %d of document %s", ref.Version, ref.Document)
	err := s.write(ctx, doing, func(ctx context.Context, tx transaction) error {
		_, err := row.begin(ctx, tx, ref, runID, firstOffset)
		return err
	})
	if err != nil {
		return Version{}, err
	}
	return row.version()
}

// PrepareVersion is BeginVersion and SetStage in one transaction: a version that
// is begun by it, or was begun by the same run before, gets the stage, the
// progress (0..1) and the facts. It has passed the check, so webhooks are told of
// the document if it is new. Repeating it has the same result.
func (s *versionStore) PrepareVersion(ctx context.Context, ref knowledge.VersionRef, runID string, firstOffset int64, stage knowledge.Stage, progress float64, f Facts) (Version, error) {
	var row versionRow
	doing := fmt.Sprintf("prepare version %d of document %s", ref.Version, ref.Document)
	err := s.write(ctx, doing, func(ctx context.Context, tx transaction) error {
		begun, err := row.begin(ctx, tx, ref, runID, firstOffset)
		if err != nil || !begun {
			return err
		}
		if err := s.setStage(ctx, tx, ref, stage, progress, f); err != nil {
			return err
		}
		if err := row.announceCreated(ctx, tx, micros(s.now())); err != nil {
			return err
		}
		return loadVersion(ctx, tx, ref, &row)
	})
	if err != nil {
		return Version{}, err
	}
	return row.version()
}

// begin reads a version and, if it is this run's to ingest, marks it as begun.
func (r *versionRow) begin(ctx context.Context, tx transaction, ref knowledge.VersionRef, runID string, firstOffset int64) (begun bool, err error) {
	if err := loadVersion(ctx, tx, ref, r); err != nil {
		return false, err
	}
	removing := r.Version <= r.RemovingUpto
	waiting := r.RemovingUpto > 0 && !removing
	ended := r.Status != string(knowledge.StatusPending)
	switch {
	case r.RunID != runID, waiting, ended && !removing:
		return false, nil
	case !removing && r.PublishedVersion > r.Version:
		r.Status = string(knowledge.StatusInactive)
		return false, endOvertaken(ctx, tx, ref, r.PublishedVersion)
	}
	_, err = tx.exec(ctx, "UPDATE runs SET first_offset = ? WHERE id = ? AND status = 'running'", firstOffset, runID)
	if err != nil || removing {
		return false, err
	}
	r.Begun = true
	_, err = tx.exec(ctx, "UPDATE document_versions SET begun = TRUE WHERE document_id = ? AND version = ?", ref.Document, ref.Version)
	return err == nil, err
}

// SetStage stores the stage of a version, its progress (0..1), unless the document
// has a higher one in that stage, and what was found out about the version. It does
// nothing for a version that has ended or is being removed.
func (s *versionStore) SetStage(ctx context.Context, ref knowledge.VersionRef, stage knowledge.Stage, progress float64, f Facts) error {
	doing := fmt.Sprintf("note stage %s of version %d of document %s", stage, ref.Version, ref.Document)
	return s.write(ctx, doing, func(ctx context.Context, tx transaction) error { return s.setStage(ctx, tx, ref, stage, progress, f) })
}

// noteVersion and noteDocument leave a fact that is ” or 0 as it is. The document
// shows the facts of its newest version only while nothing of it is published.
// Within a stage its progress does not fall: concurrent steps of the stage end in any
// order.
const (
	noteVersion = `UPDATE document_versions SET stage = ?1, updated_at = ?2,
	media_type = COALESCE(NULLIF(?3, ''), media_type), language = COALESCE(NULLIF(?4, ''), language), bytes = COALESCE(NULLIF(CAST(?5 AS BIGINT), 0), bytes),
	chunk_count = COALESCE(NULLIF(CAST(?6 AS BIGINT), 0), chunk_count), page_count = COALESCE(NULLIF(CAST(?7 AS BIGINT), 0), page_count),
	warnings = COALESCE(NULLIF(?11, ''), warnings)
WHERE document_id = ?8 AND version = ?9 AND workspace = ?10 AND status = 'pending'
	AND EXISTS (SELECT 1 FROM documents AS d WHERE d.id = ?8 AND d.removing_upto < ?9)`
	noteDocument = `UPDATE documents SET stage = ?1, updated_at = ?2,
	progress = CASE WHEN stage = ?1 AND progress > ?10 THEN progress ELSE ?10 END,
	media_type = CASE WHEN published_version > 0 THEN media_type ELSE COALESCE(NULLIF(?3, ''), media_type) END,
	language = CASE WHEN published_version > 0 THEN language ELSE COALESCE(NULLIF(?4, ''), language) END,
	bytes = CASE WHEN published_version > 0 THEN bytes ELSE COALESCE(NULLIF(CAST(?5 AS BIGINT), 0), bytes) END,
	chunk_count = CASE WHEN published_version > 0 THEN chunk_count ELSE COALESCE(NULLIF(CAST(?6 AS BIGINT), 0), chunk_count) END,
	page_count = CASE WHEN published_version > 0 THEN page_count ELSE COALESCE(NULLIF(CAST(?7 AS BIGINT), 0), page_count) END,
	warnings = CASE WHEN published_version > 0 THEN warnings ELSE COALESCE(NULLIF(?11, ''), warnings) END
WHERE id = ?8 AND version = ?9`
)

func (s *versionStore) setStage(ctx context.Context, tx transaction, ref knowledge.VersionRef, stage knowledge.Stage, progress float64, f Facts) error {
	warnings, err := encodeUnlessZero(f.Warnings, len(f.Warnings) == 0)
	if err != nil {
		return fmt.Errorf("encode warnings: %w", err)
	}
	args := []any{string(stage), micros(s.now()), f.MediaType, f.Language, f.Bytes, f.ChunkCount, f.PageCount, ref.Document, ref.Version}
	open, err := changed(tx.exec(ctx, noteVersion, append(args, ref.Workspace, warnings)...))
	if err != nil || !open {
		return err
	}
	if _, err = tx.exec(ctx, noteDocument, append(args, progress, warnings)...); err != nil || len(f.Metadata)+len(f.Tags) == 0 {
		return err
	}
	return addFound(ctx, tx, ref, f)
}

// SetWaiting stores that a step of a version waits for its next try, or with nil that
// none does. It does nothing for a document whose newest version has ended.
func (s *versionStore) SetWaiting(ctx context.Context, ref knowledge.VersionRef, w *knowledge.Waiting) error {
	text := ""
	if w != nil {
		var err error
		if text, err = encode(w); err != nil {
			return err
		}
	}
	doing := fmt.Sprintf("note that version %d of document %s waits", ref.Version, ref.Document)
	return s.write(ctx, doing, func(ctx context.Context, tx transaction) error {
		_, err := tx.exec(ctx, `UPDATE documents SET waiting = ?1, updated_at = ?2
			WHERE id = ?3 AND workspace = ?4 AND version >= ?5 AND status = 'pending' AND waiting <> ?1`,
			text, micros(s.now()), ref.Document, ref.Workspace, ref.Version)
		return err
	})
}
