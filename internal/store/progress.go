package store

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

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
}

// BeginVersion marks a version as begun and stores the offset at which its run's
// events begin in the workflow's log. It changes nothing, and returns the version
// as it is, if the version belongs to another run by now, has ended, is being
// removed, or waits for a removal. A version that is older than the published one
// ends. Doing it again gives the same result.
func (s *Store) BeginVersion(ctx context.Context, ref knowledge.VersionRef, runID string, firstOffset int64) (Version, error) {
	var row versionRow
	doing := fmt.Sprintf("begin version %d of document %s", ref.Version, ref.Document)
	err := s.write(ctx, doing, func(ctx context.Context, tx bun.Tx) error {
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
// progress (0..1) and the facts. Doing it again gives the same result.
func (s *Store) PrepareVersion(ctx context.Context, ref knowledge.VersionRef, runID string, firstOffset int64, stage knowledge.Stage, progress float64, f Facts) (Version, error) {
	var row versionRow
	doing := fmt.Sprintf("prepare version %d of document %s", ref.Version, ref.Document)
	err := s.write(ctx, doing, func(ctx context.Context, tx bun.Tx) error {
		begun, err := row.begin(ctx, tx, ref, runID, firstOffset)
		if err != nil || !begun {
			return err
		}
		if err := s.setStage(ctx, tx, ref, stage, progress, f); err != nil {
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
func (r *versionRow) begin(ctx context.Context, tx bun.Tx, ref knowledge.VersionRef, runID string, firstOffset int64) (begun bool, err error) {
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
		return false, overtake(ctx, tx, ref, r.PublishedVersion)
	}
	_, err = tx.NewUpdate().Model((*runRow)(nil)).Set("first_offset = ?", firstOffset).
		Where("id = ? AND status = ?", runID, knowledge.RunRunning).Exec(ctx)
	if err != nil || removing {
		return false, err
	}
	r.Begun = true
	_, err = tx.NewUpdate().Model(r).Column("begun").WherePK().Exec(ctx)
	return err == nil, err
}

// SetStage stores the stage of a version, its progress (0..1) and what was found
// out about it. It does nothing for a version that has ended or is being removed.
func (s *Store) SetStage(ctx context.Context, ref knowledge.VersionRef, stage knowledge.Stage, progress float64, f Facts) error {
	doing := fmt.Sprintf("note stage %s of version %d of document %s", stage, ref.Version, ref.Document)
	return s.write(ctx, doing, func(ctx context.Context, tx bun.Tx) error { return s.setStage(ctx, tx, ref, stage, progress, f) })
}

func (s *Store) setStage(ctx context.Context, tx bun.Tx, ref knowledge.VersionRef, stage knowledge.Stage, progress float64, f Facts) error {
	now := micros(s.now())
	q := f.set(tx.NewUpdate().Model((*versionRow)(nil)), "?0 = ?1").Set("stage = ?, updated_at = ?", stage, now).
		Where("document_id = ? AND version = ? AND workspace = ? AND status = 'pending'", ref.Document, ref.Version, ref.Workspace).
		Where("EXISTS (SELECT 1 FROM documents AS d WHERE d.id = ? AND d.removing_upto < ?)", ref.Document, ref.Version)
	open, err := changed(q.Exec(ctx))
	if err != nil || !open {
		return err
	}
	_, err = f.set(tx.NewUpdate().Model((*documentRow)(nil)), "?0 = CASE WHEN published_version = 0 THEN ?1 ELSE ?0 END").
		Set("stage = ?, progress = ?, updated_at = ?", stage, progress, now).
		Where("id = ? AND version = ?", ref.Document, ref.Version).Exec(ctx)
	return err
}

// set sets the facts that are not zero, in a form with the column as ?0 and the
// value as ?1.
func (f Facts) set(q *bun.UpdateQuery, form string) *bun.UpdateQuery {
	for _, fact := range []struct {
		column string
		value  any
		known  bool
	}{
		{"media_type", f.MediaType, f.MediaType != ""},
		{"language", f.Language, f.Language != ""},
		{"bytes", f.Bytes, f.Bytes != 0},
		{"chunk_count", f.ChunkCount, f.ChunkCount != 0},
		{"page_count", f.PageCount, f.PageCount != 0},
	} {
		if fact.known {
			q = q.Set(form, bun.Ident(fact.column), fact.value)
		}
	}
	return q
}
