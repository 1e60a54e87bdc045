package store

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// The outcomes of an object in the import that listed it last.
const (
	outcomePending   = "pending"
	outcomePublished = "published"
	outcomeSkipped   = "skipped"
	outcomeFailed    = "failed"
	outcomeRetrying  = "retrying" // it has a version of its own, which a workflow ingests
	outcomeExcluded  = "excluded" // by the patterns of the request
	outcomeGone      = "gone"     // from a place that is followed
)

// ListedObject is an object of a page, as the source lists it.
type ListedObject struct {
	Key         string
	DocumentID  string
	ETag        string // "" = only reading tells it
	Fingerprint string // of everything but the bytes that makes the document
	Bytes       int64  // below 0 = only reading tells it
	Excluded    bool   // by the patterns of the request
	Hidden      bool   // nobody in the workspace may see it
}

// ImportPage is a page of a listing that is stored.
type ImportPage struct {
	Page    int
	Next    string // token of the page after, "" = none
	Objects int    // in the manifest of the page
	Todo    int    // of them, to be imported
}

// ImportPage returns a page that is stored; there is false if it is not.
func (s *importStore) ImportPage(ctx context.Context, i Import, page int) (p ImportPage, there bool, err error) {
	p.Page = page
	there, err = first(ctx, s.reader, []any{&p.Next, &p.Objects, &p.Todo},
		"SELECT next, objects, todo FROM import_pages WHERE import = ? AND page = ?", i.Number, page)
	if err != nil {
		return p, false, fmt.Errorf("read page %d of import %s: %w", page, i.Import, failure(err))
	}
	return p, there, nil
}

// objectsPerBatch bounds how many objects one transaction lists.
const objectsPerBatch = 100

// AddImportPage stores a page of the listing and its objects, and counts them. Of
// the objects that were published before and are unchanged, it stores that they are
// skipped. late are objects of earlier pages that this page has to import again,
// because it describes them. Each 100 objects have a transaction of their own.
// AddImportPage may be repeated until it has succeeded: the objects are counted once.
// The page then has the number of objects to import. Of a dry run, only the page and
// its counts are stored.
func (s *importStore) AddImportPage(ctx context.Context, i Import, page ImportPage, list, late []ListedObject) (ImportPage, error) {
	l := listing{Import: i, page: page.Page, now: micros(s.now())}
	doing := fmt.Sprintf("store page %d of import %s", page.Page, i.Import)
	for first := 0; first < len(list); first += objectsPerBatch {
		part, before := list[first:min(first+objectsPerBatch, len(list))], l
		err := s.write(ctx, doing, func(ctx context.Context, tx transaction) error {
			l = before
			return l.objects(ctx, tx, part)
		})
		if err != nil {
			return page, err
		}
	}
	page.Objects = len(list) + len(late)
	before := l
	err := s.write(ctx, doing, func(ctx context.Context, tx transaction) error {
		l = before
		for _, o := range late {
			if err := l.again(ctx, tx, o); err != nil {
				return err
			}
		}
		page.Todo = l.todo
		added, err := changed(tx.exec(ctx, "INSERT INTO import_pages (import, page, next, objects, todo, known) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
			i.Number, page.Page, page.Next, page.Objects, page.Todo, l.known))
		if err != nil || !added {
			return err
		}
		if err := l.count(ctx, tx); err != nil || page.Next != "" {
			return err
		}
		_, err = tx.exec(ctx, "UPDATE imports SET listed = TRUE WHERE number = ?", i.Number)
		return err
	})
	if err != nil {
		return page, err
	}
	page, _, err = s.ImportPage(ctx, i, page.Page)
	return page, err
}

// listing is the work of AddImportPage.
type listing struct {
	Import
	page   int
	now    int64
	todo   int
	known  int                    // objects that have a row
	counts knowledge.ImportCounts // that are not stored yet
}

// objects stores a number of objects. Of a dry run, it only counts them.
func (l *listing) objects(ctx context.Context, tx transaction, list []ListedObject) error {
	keys := make([]string, 0, len(list))
	for _, o := range list {
		keys = append(keys, o.Key)
	}
	rows, err := loadObjects(ctx, tx, l.Source, keys)
	if err != nil {
		return err
	}
	stored := map[string]bool{}
	for _, o := range list {
		if stored[o.Key] {
			continue // the first one of a key counts
		}
		stored[o.Key] = true
		row, there := rows[o.Key]
		if err := l.object(ctx, tx, o, row, there); err != nil {
			return err
		}
	}
	if l.Request.DryRun {
		return nil
	}
	return l.count(ctx, tx)
}

// count adds the counts to the counts of the import.
func (l *listing) count(ctx context.Context, tx transaction) error {
	counts := l.counts
	l.counts = knowledge.ImportCounts{}
	return addCounts(ctx, tx, l.Number, counts, l.now)
}

// object stores one object. row is what is stored of it, if there is.
func (l *listing) object(ctx context.Context, tx transaction, o ListedObject, row objectRow, there bool) error {
	if there {
		l.known++
	}
	switch {
	case there && row.Import == l.Number: // listed by this import before
		if row.Page == l.page && row.Outcome == outcomePending {
			l.todo++
		}
		return nil
	case o.Excluded && !there:
		return nil
	case o.Excluded && l.Request.Sync != "":
		return l.gone(ctx, tx, row)
	case o.Excluded:
		return l.list(ctx, tx, row, outcomeExcluded)
	}
	row.Hidden = o.Hidden
	l.counts.Discovered++
	switch {
	case !there:
		row = objectRow{SourceID: l.Source, Key: o.Key, DocumentID: o.DocumentID, Hidden: o.Hidden}
	case unchanged(row, o):
		l.counts.Skipped++
		return l.list(ctx, tx, row, outcomeSkipped)
	default:
		again, err := l.failsAgain(ctx, tx, row, o)
		if err != nil || again {
			return err
		}
	}
	l.todo++
	switch {
	case l.Request.DryRun:
		l.counts.Bytes += max(o.Bytes, 0)
		return nil
	case there:
		return l.list(ctx, tx, row, outcomePending)
	}
	row.Import, row.Page, row.Outcome = l.Number, l.page, outcomePending
	return objectTable.insert(ctx, tx, &row)
}

// unchanged reports whether the document of an object is what a new import of it
// would make.
func unchanged(row objectRow, o ListedObject) bool {
	return row.Alive && o.ETag != "" && row.ETag == o.ETag && row.Fingerprint == o.Fingerprint
}

// failsAgain reports whether an object failed before in a way that its bytes alone
// decide, and is unchanged. It then stores the same failure.
func (l *listing) failsAgain(ctx context.Context, tx transaction, row objectRow, o ListedObject) (bool, error) {
	if row.Outcome != outcomeFailed || o.ETag == "" {
		return false, nil
	}
	var before importFailureRow
	there, err := importFailureTable.first(ctx, tx, &before, "f.import = ? AND f.key = ? AND f.etag = ? AND f.fingerprint = ?", row.Import, o.Key, o.ETag, o.Fingerprint)
	if err != nil || !there {
		return false, err
	}
	failed, err := before.failure()
	if err != nil || failed.Error.MayRetry() {
		return false, err
	}
	l.counts.Failed++
	if l.Request.DryRun {
		return true, nil
	}
	before.Import = l.Number
	if err := importFailureTable.insert(ctx, tx, &before); err != nil {
		return true, err
	}
	return true, l.list(ctx, tx, row, outcomeFailed)
}

// list stores that this import has listed an object.
func (l *listing) list(ctx context.Context, tx transaction, row objectRow, outcome string) error {
	if l.Request.DryRun {
		return nil
	}
	_, err := tx.exec(ctx, "UPDATE import_objects SET import = ?, page = ?, outcome = ?, hidden = ? WHERE source_id = ? AND key = ?",
		l.Number, l.page, outcome, row.Hidden, row.SourceID, row.Key)
	return err
}

// again makes an object of an earlier page one of this page, without its outcome.
func (l *listing) again(ctx context.Context, tx transaction, o ListedObject) error {
	var row objectRow
	there, err := loadObject(ctx, tx, l.Source, o.Key, &row)
	if err != nil || !there || row.Import != l.Number || l.Request.DryRun {
		return err
	}
	switch row.Outcome {
	case outcomePending, outcomePublished, outcomeSkipped, outcomeFailed:
	case outcomeGone: // a place that is followed has it again
		l.counts.Discovered++
	default:
		return nil
	}
	if err := l.uncount(ctx, tx, row); err != nil {
		return err
	}
	row.Hidden = o.Hidden
	l.todo++
	return l.list(ctx, tx, row, outcomePending)
}

// uncount takes the outcome of an object back.
func (l *listing) uncount(ctx context.Context, tx transaction, row objectRow) error {
	switch row.Outcome {
	case outcomePublished:
		l.counts.Published--
	case outcomeSkipped:
		l.counts.Skipped--
	case outcomeFailed:
		l.counts.Failed--
		_, err := tx.exec(ctx, "DELETE FROM import_failures WHERE import = ? AND key = ?", l.Number, row.Key)
		return err
	}
	return nil
}

// maxGap is the longest time between two changes of an import that counts as work,
// in microseconds. In a longer one the process did not run.
const maxGap = 60e6

// addCounts adds counts to the counts of an import, and the time since its last change
// to the time that it has worked.
func addCounts(ctx context.Context, tx transaction, number int64, c knowledge.ImportCounts, now int64) error {
	_, err := tx.exec(ctx, `UPDATE imports SET discovered = discovered + ?1, published = published + ?2, skipped = skipped + ?3, failed = failed + ?4,
	vanished = vanished + ?5, deleted = deleted + ?6, bytes = bytes + ?7,
	active = active + CASE WHEN ?8 < updated_at THEN 0 WHEN ?8 - updated_at > ?9 THEN ?9 ELSE ?8 - updated_at END,
	updated_at = CASE WHEN ?8 > updated_at THEN ?8 ELSE updated_at END WHERE number = ?10`,
		c.Discovered, c.Published, c.Skipped, c.Failed, c.Vanished, c.Deleted, c.Bytes, now, int64(maxGap), number)
	return err
}
