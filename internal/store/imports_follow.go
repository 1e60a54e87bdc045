package store

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// FollowedObject is an object of a sync whose document exists.
type FollowedObject struct {
	Key         string
	DocumentID  string
	ETag        string // as it is listed
	Fingerprint string // of now
	Only        string // beginning of the fingerprint of a document that differs in these attributes alone

	Name   string
	Tags   *[]string // nil = the service has no labels
	Access *knowledge.Access
}

// FollowObjects sets the names, labels and rights of documents to those that their objects have
// now, in one transaction. It returns the keys of the objects whose bytes are the published ones,
// which count as published. Rights change first, so they change even if bytes cannot be read.
// Repeating it changes nothing.
func (s *importStore) FollowObjects(ctx context.Context, i Import, page int, list []FollowedObject) (settled []string, err error) {
	err = s.write(ctx, fmt.Sprintf("follow %d objects of import %s", len(list), i.Import), func(ctx context.Context, tx transaction) error {
		settled = nil
		var changes followed
		for _, o := range list {
			done, err := s.follow(ctx, tx, i, page, o, &changes)
			if err != nil {
				return err
			}
			if done {
				settled = append(settled, o.Key)
			}
		}
		if err := tx.auditOwn(ctx, i.change("sync-change-access", changes.access)); err != nil {
			return err
		}
		if err := tx.auditOwn(ctx, i.change("sync-change-documents", changes.others)); err != nil {
			return err
		}
		if len(settled) == 0 {
			return nil
		}
		return addCounts(ctx, tx, i.Number, knowledge.ImportCounts{Published: int64(len(settled))}, micros(s.now()))
	})
	return settled, err
}

// followed are the documents whose attributes a run of a sync has changed.
type followed struct{ access, others []string }

func (s *importStore) follow(ctx context.Context, tx transaction, i Import, page int, o FollowedObject, changes *followed) (settled bool, err error) {
	var row objectRow
	there, err := loadObject(ctx, tx, i.Source, o.Key, &row)
	if err != nil || !there || row.Import != i.Number || row.Page != page || row.Outcome != outcomePending {
		return false, err
	}
	var doc documentRow
	there, err = loadDocument(ctx, tx, o.DocumentID, &doc)
	if err != nil || !there || doc.Removed || doc.RemovingUpto > 0 {
		return false, err
	}
	patch, err := o.patch(&doc)
	if err != nil {
		return false, err
	}
	if patch != (DocumentPatch{}) {
		if err := patch.write(ctx, tx, &doc, s.now()); err != nil {
			return false, err
		}
		if patch.Access != nil {
			changes.access = append(changes.access, doc.ID)
		} else {
			changes.others = append(changes.others, doc.ID)
		}
	}
	if !row.Alive || o.ETag == "" || row.ETag != o.ETag || !hasPrefix(row.Fingerprint, o.Only) {
		return false, nil
	}
	_, err = tx.exec(ctx, "UPDATE import_objects SET outcome = 'published', fingerprint = ? WHERE source_id = ? AND key = ?", o.Fingerprint, i.Source, o.Key)
	return err == nil, err
}

func hasPrefix(fingerprint, only string) bool {
	return only != "" && len(fingerprint) > len(only) && fingerprint[:len(only)] == only
}

// patch returns what differs between a document and its object.
func (o FollowedObject) patch(doc *documentRow) (DocumentPatch, error) {
	var p DocumentPatch
	if o.Name != doc.Name {
		p.Name = &o.Name
	}
	for _, f := range []struct {
		stored string
		now    any
		set    func()
	}{
		{doc.Tags, o.Tags, func() { p.Tags = o.Tags }},
		{doc.Access, o.Access, func() { p.Access = o.Access }},
	} {
		if f.now == (*[]string)(nil) || f.now == (*knowledge.Access)(nil) {
			continue
		}
		text, err := encode(f.now)
		if err != nil {
			return p, fmt.Errorf("encode attributes: %w", err)
		}
		if text != f.stored {
			f.set()
		}
	}
	return p, nil
}

// MarkGone stores that objects are gone from a place that is followed, which a later page
// may take back. SettleVanished removes their documents. Repeating it changes nothing.
func (s *importStore) MarkGone(ctx context.Context, i Import, page int, keys []string) error {
	return s.write(ctx, fmt.Sprintf("note %d objects that are gone", len(keys)), func(ctx context.Context, tx transaction) error {
		l := listing{Import: i, page: page, now: micros(s.now())}
		for _, key := range keys {
			var row objectRow
			there, err := loadObject(ctx, tx, i.Source, key, &row)
			if err != nil {
				return err
			}
			if !there || row.Outcome == outcomeGone && row.Import == i.Number {
				continue
			}
			if err := l.gone(ctx, tx, row); err != nil {
				return err
			}
		}
		return l.count(ctx, tx)
	})
}

// gone marks one object. One that this import has listed before counts no more.
func (l *listing) gone(ctx context.Context, tx transaction, row objectRow) error {
	if row.Import == l.Number && row.Outcome != outcomeExcluded {
		if err := l.uncount(ctx, tx, row); err != nil {
			return err
		}
		l.counts.Discovered--
	}
	return l.list(ctx, tx, row, outcomeGone)
}

// FailedBefore returns objects that an import of the same source before could not import,
// and that this one has not listed: those whose failure may be gone by now, at most limit,
// in the order of their keys.
func (s *importStore) FailedBefore(ctx context.Context, i Import, after string, limit int) ([]ImportFailure, error) {
	rows, err := importFailureTable.all(ctx, s.reader, `f.key > ?1 AND EXISTS (
		SELECT 1 FROM import_objects AS o WHERE o.source_id = ?2 AND o.key = f.key AND o.import = f.import AND o.outcome = 'failed' AND o.import < ?3)
		AND f.import IN (SELECT number FROM imports WHERE source_id = ?2) ORDER BY f.key LIMIT ?4`, after, i.Source, i.Number, limit)
	if err != nil {
		return nil, fmt.Errorf("list objects that failed before import %s: %w", i.Import, failure(err))
	}
	return decodeRows(rows, (*importFailureRow).failure)
}
