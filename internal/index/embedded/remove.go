package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/cairn-rag/cairn/internal/index"
)

// removeBatch is the number of entries that one transaction removes. Erasing
// the words of a passage takes milliseconds, and other writers wait.
const removeBatch = 64

// vectorBatch is the number of vectors that one transaction of RemoveGeneration erases.
const vectorBatch = 256

// RemoveVersions removes every entry of the document whose version is below
// keep.
func (x *Index) RemoveVersions(ctx context.Context, workspace, document string, keep int) error {
	if err := x.remove(ctx, workspace, document, versions{1, keep - 1}); err != nil {
		return fmt.Errorf("remove versions of document %s below %d from the index: %w", document, keep, err)
	}
	return nil
}

// RemoveVersion removes every entry of one version of the document.
func (x *Index) RemoveVersion(ctx context.Context, workspace, document string, version int) error {
	if err := x.remove(ctx, workspace, document, versions{version, version}); err != nil {
		return fmt.Errorf("remove version %d of document %s from the index: %w", version, document, err)
	}
	return nil
}

// versions are those from first to last, both included.
type versions struct{ first, last int }

// RemoveDocument removes the document's versions up to and including upto. It
// then empties the write-ahead log, so that nothing of them is left in either
// file.
func (x *Index) RemoveDocument(ctx context.Context, workspace, document string, upto int) error {
	if err := x.remove(ctx, workspace, document, versions{1, upto}); err != nil {
		return fmt.Errorf("remove document %s from the index: %w", document, err)
	}
	return x.file.Erase(ctx)
}

func (x *Index) remove(ctx context.Context, workspaceName, document string, v versions) error {
	workspace, err := x.workspace(ctx, workspaceName)
	if err != nil || workspace == 0 {
		return err
	}
	// The tokens are removed first, so that nothing is found while batches are
	// removed.
	err = x.write(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM acl WHERE version_id IN
			(SELECT id FROM versions WHERE workspace = ? AND document_id = ? AND version BETWEEN ? AND ?)`, workspace, document, v.first, v.last)
		return err
	})
	for more := err == nil; more && err == nil; {
		err = x.write(ctx, func(tx *sql.Tx) error {
			more, err = eraseSome(ctx, tx, workspace, document, v)
			return err
		})
	}
	x.tidier.noteWrite(workspace)
	return err
}

// eraseSome erases a batch of entries, and the versions when no entry is left.
func eraseSome(ctx context.Context, tx *sql.Tx, workspace int64, document string, v versions) (more bool, err error) {
	w := newWriting(tx)
	entries, err := someEntries(ctx, tx, workspace, document, v)
	if err != nil {
		return false, err
	}
	// Erase all words before anything else, for the reason in putWords.
	for id := range entries {
		if err := eraseWords(ctx, w.exec, workspace, id); err != nil {
			return false, err
		}
	}
	for id, dimension := range entries {
		if err := w.eraseEntry(ctx, workspace, id, dimension); err != nil {
			return false, err
		}
	}
	if err := w.noteChanges(ctx); err != nil {
		return false, err
	}
	if len(entries) == removeBatch {
		return true, nil
	}
	return false, w.exec(ctx, `DELETE FROM versions WHERE workspace = ? AND document_id = ? AND version BETWEEN ? AND ?`, workspace, document, v.first, v.last)
}

func someEntries(ctx context.Context, tx *sql.Tx, workspace int64, document string, of versions) (map[int64]int, error) {
	rows, err := tx.QueryContext(ctx, `SELECT e.id, e.dimension FROM versions v JOIN entries e ON e.version_id = v.id
		WHERE v.workspace = ? AND v.document_id = ? AND v.version BETWEEN ? AND ? LIMIT ?`, workspace, document, of.first, of.last, removeBatch)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := map[int64]int{}
	for rows.Next() {
		var id int64
		var dimension int
		if err := rows.Scan(&id, &dimension); err != nil {
			return nil, err
		}
		found[id] = dimension
	}
	return found, rows.Err()
}

func eraseWords(ctx context.Context, exec execer, workspace, id int64) error {
	return exec(ctx, `DELETE FROM `+wordTable(workspace)+` WHERE rowid = ?`, id)
}

// eraseEntry erases an entry but for its words.
func (w *writing) eraseEntry(ctx context.Context, workspace, id int64, dimension int) error {
	if dimension > 0 {
		if err := w.eraseVectors(ctx, id); err != nil {
			return err
		}
	}
	if err := w.exec(ctx, `DELETE FROM entries WHERE id = ?`, id); err != nil {
		return err
	}
	return w.noteRemoved(ctx, workspace, id)
}

// SetAttributes replaces the attributes of one version of the document.
func (x *Index) SetAttributes(ctx context.Context, workspaceName, document string, version int, a index.Attributes) error {
	metadata, err := metadataJSON(a.Metadata)
	if err != nil {
		return fmt.Errorf("set attributes of document %s: %w", document, err)
	}
	workspace, err := x.workspace(ctx, workspaceName)
	if err != nil || workspace == 0 {
		return err
	}
	err = x.write(ctx, func(tx *sql.Tx) error {
		var id int64
		err := tx.QueryRowContext(ctx, `UPDATE versions SET classification = ?, metadata = ?
			WHERE workspace = ? AND document_id = ? AND version = ? RETURNING id`,
			a.Classification, metadata, workspace, document, version).Scan(&id)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		if err != nil {
			return err
		}
		return putLabels(ctx, newWriting(tx).exec, id, a.ACL, a.Tags)
	})
	if err != nil {
		return fmt.Errorf("set attributes of document %s in the index: %w", document, err)
	}
	return nil
}

// Count returns the number of entries of each version of the document.
func (x *Index) Count(ctx context.Context, workspace, document string) (map[int]int, error) {
	rows, err := x.reader.QueryContext(ctx, `SELECT v.version, count(*) FROM workspaces w
		JOIN versions v ON v.workspace = w.id JOIN entries e ON e.version_id = v.id
		WHERE w.name = ? AND v.document_id = ? GROUP BY v.version`, workspace, document)
	if err != nil {
		return nil, fmt.Errorf("count entries of document %s: %w", document, err)
	}
	defer rows.Close()
	counts := map[int]int{}
	for rows.Next() {
		var version, n int
		if err := rows.Scan(&version, &n); err != nil {
			return nil, fmt.Errorf("count entries of document %s: %w", document, err)
		}
		counts[version] = n
	}
	return counts, rows.Err()
}
