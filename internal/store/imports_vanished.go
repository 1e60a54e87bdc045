package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// VanishedPage is a part of the objects that an import did not find any more.
type VanishedPage struct {
	Next     string    // key after which the next part begins, "" = none
	Removals []Removal // that were started
}

// vanishedPerBatch is how many vanished objects one transaction handles.
const vanishedPerBatch = 200

// vanished returns the condition on a row of import_objects, whose source is parameter ?1
// and whose import ?2, that the object has vanished. What a place that is followed did not
// list is gone only if everything was listed.
func (i Import) vanished(full bool) string {
	switch {
	case i.Request.Sync == "":
		return "source_id = ?1 AND import < ?2"
	case full:
		return "source_id = ?1 AND (import < ?2 OR outcome = 'gone')"
	}
	return "source_id = ?1 AND (outcome = 'gone' AND import <= ?2)"
}

// MarkVanished starts the removal of the documents of objects that an import before
// has listed and this one has not, and forgets and counts the objects, in the same
// transaction. The documents that are under legal hold stay. after is "" for the
// first part. Repeating a part counts nothing twice.
func (s *importStore) MarkVanished(ctx context.Context, i Import, full bool, after string) (VanishedPage, error) {
	var page VanishedPage
	// It may have to look at all objects of the source, so it keeps no writer waiting.
	rows, err := objectTable.all(ctx, s.reader, i.vanished(full)+" AND o.key > ?3 ORDER BY o.key LIMIT ?4", i.Source, i.Number, after, vanishedPerBatch)
	if err != nil {
		return page, fmt.Errorf("list what vanished from import %s: %w", i.Import, failure(err))
	}
	if len(rows) == 0 {
		return page, nil
	}
	if len(rows) == vanishedPerBatch {
		page.Next = rows[len(rows)-1].Key
	}
	err = s.write(ctx, "remove what vanished from import "+i.Import, func(ctx context.Context, tx transaction) error {
		page.Removals = nil
		var counts knowledge.ImportCounts
		var removed []string
		for n := range rows {
			gone, err := s.removeVanished(ctx, tx, i, full, &rows[n], &page)
			if err != nil {
				return err
			}
			if gone {
				counts.Deleted++
				removed = append(removed, rows[n].DocumentID)
			}
		}
		if err := tx.auditOwn(ctx, i.change("import-remove-documents", removed)); err != nil {
			return err
		}
		return addCounts(ctx, tx, i.Number, counts, micros(s.now()))
	})
	return page, err
}

// removeVanished starts the removal of the document of an object, and forgets the
// object. It reports whether it did.
func (s *importStore) removeVanished(ctx context.Context, tx transaction, i Import, full bool, row *objectRow, page *VanishedPage) (bool, error) {
	var doc documentRow
	there, err := loadDocument(ctx, tx, row.DocumentID, &doc)
	if err != nil || there && doc.held() {
		return false, err
	}
	if there && !doc.Removed && doc.RemovingUpto < doc.Version {
		run := knowledge.DerivedID("run", i.Import, "vanished", row.DocumentID)
		if err := doc.mark(ctx, tx, i.Owner, run, s.now()); err != nil {
			return false, err
		}
		if err := markChildren(ctx, tx, i.Owner, doc.ID, s.now()); err != nil {
			return false, err
		}
		page.Removals = append(page.Removals, doc.removal())
	}
	return changed(tx.exec(ctx, "DELETE FROM import_objects WHERE "+i.vanished(full)+" AND key = ?3", row.SourceID, i.Number, row.Key))
}

// CountVanished stores and returns how many objects an import before has listed and
// this one has not, and forgets the descriptions that are no longer in the source. It
// is called before MarkVanished, or again. full reports that everything was listed.
func (s *importStore) CountVanished(ctx context.Context, i Import, full bool) (int64, error) {
	query, args := "SELECT count(*) FROM import_objects WHERE "+i.vanished(full), []any{i.Source, i.Number}
	if i.Request.DryRun { // it has marked none as listed
		query = "SELECT (SELECT count(*) FROM import_objects WHERE source_id = ?) - (SELECT COALESCE(sum(known), 0) FROM import_pages WHERE import = ?)"
	}
	var n int64
	if _, err := first(ctx, s.reader, []any{&n}, query, args...); err != nil {
		return 0, fmt.Errorf("count what vanished from import %s: %w", i.Import, failure(err))
	}
	return n, s.write(ctx, "count what vanished from import "+i.Import, func(ctx context.Context, tx transaction) error {
		_, err := tx.exec(ctx, "UPDATE imports SET vanished = ? + deleted WHERE number = ?", n, i.Number)
		if err != nil || i.Request.DryRun || !full {
			return err
		}
		_, err = tx.exec(ctx, "DELETE FROM import_sidecars WHERE source_id = ? AND import < ?", i.Source, i.Number)
		return err
	})
}

// Sidecar is an object that describes another one.
type Sidecar struct {
	Key    string // of the object that it describes
	ETag   string
	Object []byte // JSON of the object itself, for its source
}

// PutSidecars stores descriptions of objects that an import has listed.
func (s *importStore) PutSidecars(ctx context.Context, i Import, list []Sidecar) error {
	if len(list) == 0 {
		return nil
	}
	return s.write(ctx, fmt.Sprintf("store %d descriptions of import %s", len(list), i.Import), func(ctx context.Context, tx transaction) error {
		for _, c := range list {
			_, err := tx.exec(ctx, `INSERT INTO import_sidecars (source_id, key, import, etag, object) VALUES (?, ?, ?, ?, ?)
				ON CONFLICT (source_id, key) DO UPDATE SET import = excluded.import, etag = excluded.etag, object = excluded.object`,
				i.Source, c.Key, i.Number, c.ETag, string(c.Object))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

var manySidecars = "SELECT key, etag, object FROM import_sidecars WHERE source_id = ? AND " + withKeys("key")

// ImportSidecars returns the descriptions of objects that are known, by the keys of
// the objects.
func (s *importStore) ImportSidecars(ctx context.Context, i Import, keys []string) (map[string]Sidecar, error) {
	found := map[string]Sidecar{}
	for part := range slices.Chunk(keys, keysPerQuery) {
		err := each(ctx, s.reader, manySidecars, keyArguments(part, i.Source), func(rows *sql.Rows) error {
			var c Sidecar
			err := rows.Scan(&c.Key, &c.ETag, &c.Object)
			found[c.Key] = c
			return err
		})
		if err != nil {
			return nil, fmt.Errorf("read descriptions of import %s: %w", i.Import, failure(err))
		}
	}
	return found, nil
}
