package store

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// SyncSource returns the name of the source of the imports that are runs of a sync.
func SyncSource(id string) string { return "sync " + id }

// StartSyncRun inserts an import that is a run of a sync, with its run, for the owner of the
// sync. It is fresh if one was completed before. If the run exists, or another one has not ended,
// that one is returned. A sync that is removed is CodeNotFound, and a paused one CodeConflict.
func (s *syncStore) StartSyncRun(ctx context.Context, n NewImport) (Import, error) {
	n.Now = s.orNow(n.Now)
	var row importRow
	err := s.write(ctx, "start a run of sync "+n.Request.Sync, func(ctx context.Context, tx transaction) error {
		there, err := importTable.first(ctx, tx, &row, "i.id = ? AND i.workspace = ?", n.Import, n.Workspace)
		if err != nil || there {
			return err
		}
		var y syncRow
		if err := loadSync(ctx, tx, n.Workspace, n.Request.Sync, &y); err != nil {
			return err
		}
		switch {
		case y.Removed:
			return knowledge.NotFound("sync", y.ID)
		case y.Paused:
			return knowledge.Errorf(knowledge.CodeConflict, "sync %q is paused: resume it first", y.ID)
		}
		open, err := importTable.first(ctx, tx, &row, "i.id = ? AND i.workspace = ? AND i.status IN ('running', 'paused')", y.LastImport, n.Workspace)
		if err != nil || open {
			return err
		}
		if n.Request.Fresh, err = n.follows(ctx, tx); err != nil {
			return err
		}
		if err := n.insert(ctx, tx, y.Owner, &row); err != nil {
			return err
		}
		if _, err := tx.exec(ctx, "UPDATE syncs SET last_import = ? WHERE id = ?", n.Import, y.ID); err != nil {
			return err
		}
		run := importRun(&row, n.Now)
		run.Accounts = n.Request.Accounts
		return insertRun(ctx, tx, run)
	})
	if err != nil {
		return Import{}, err
	}
	return row.value()
}

// follows reports whether an import of the source was completed before.
func (n NewImport) follows(ctx context.Context, tx transaction) (bool, error) {
	var id string
	return first(ctx, tx, []any{&id}, `SELECT i.id FROM imports AS i JOIN import_sources AS s ON s.id = i.source_id
		WHERE s.workspace = ? AND s.project = ? AND s.name = ? AND i.status = 'completed' LIMIT 1`, n.Workspace, n.Project, n.SourceName)
}

// SyncListing is what the last page of a run's listing says.
type SyncListing struct {
	Full   bool // what was not listed is gone
	Cursor string
}

// SetSyncListing stores what the last page of the listing of an import says. A repetition
// replaces it.
func (s *syncStore) SetSyncListing(ctx context.Context, i Import, l SyncListing) error {
	return s.write(ctx, "note the listing of import "+i.Import, func(ctx context.Context, tx transaction) error {
		_, err := tx.exec(ctx, `INSERT INTO sync_listings (import, full_listing, cursor) VALUES (?, ?, ?)
			ON CONFLICT (import) DO UPDATE SET full_listing = excluded.full_listing, cursor = excluded.cursor`, i.Number, l.Full, l.Cursor)
		return err
	})
}

// SyncListingOf returns what the complete listing of an import says; there is false if it
// is not complete.
func (s *syncStore) SyncListingOf(ctx context.Context, i Import) (l SyncListing, there bool, err error) {
	there, err = first(ctx, s.reader, []any{&l.Full, &l.Cursor}, "SELECT full_listing, cursor FROM sync_listings WHERE import = ?", i.Number)
	if err != nil {
		return l, false, fmt.Errorf("read the listing of import %s: %w", i.Import, failure(err))
	}
	return l, there, nil
}

// MoveCursor moves the cursor of a sync to where the listing of a completed run ended. A
// later run has the last word, so the cursor never goes back. Repeating it changes nothing.
func (s *syncStore) MoveCursor(ctx context.Context, i Import) error {
	return s.write(ctx, "move the cursor of sync "+i.Request.Sync, func(ctx context.Context, tx transaction) error {
		_, err := tx.exec(ctx, `UPDATE syncs SET cursor = (SELECT cursor FROM sync_listings WHERE import = ?1), cursor_at = ?2, cursor_import = ?1
			WHERE id = ?3 AND workspace = ?4 AND cursor_import < ?1 AND EXISTS (SELECT 1 FROM sync_listings WHERE import = ?1)`,
			i.Number, micros(i.CreatedAt), i.Request.Sync, i.Workspace)
		return err
	})
}

// ForgetCursor makes the next run of a sync list everything, because the service has
// forgotten what changed since the cursor.
func (s *syncStore) ForgetCursor(ctx context.Context, i Import) error {
	return s.write(ctx, "forget the cursor of sync "+i.Request.Sync, func(ctx context.Context, tx transaction) error {
		_, err := tx.exec(ctx, "UPDATE syncs SET cursor = '' WHERE id = ? AND workspace = ? AND cursor_import < ?", i.Request.Sync, i.Workspace, i.Number)
		return err
	})
}

// HiddenObjects counts the objects of the source of an import that nobody in the workspace
// may see, because their rights have no counterpart here. It needs the write scope.
func (s *syncStore) HiddenObjects(ctx context.Context, p knowledge.Principal, i Import) (n int64, err error) {
	if err := requireWrite(p); err != nil {
		return 0, err
	}
	if i.Workspace != p.Workspace() || !p.CoversProject(i.Project) {
		return 0, knowledge.NotFound("import", i.Import)
	}
	if _, err := first(ctx, s.reader, []any{&n}, "SELECT count(*) FROM import_objects WHERE source_id = ? AND hidden = TRUE AND outcome <> 'gone'", i.Source); err != nil {
		return 0, fmt.Errorf("count hidden objects: %w", failure(err))
	}
	return n, nil
}
