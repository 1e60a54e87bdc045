package embedded

import (
	"context"
	"fmt"
)

// keptRemovals is the number of removed entries that the file lists. A process
// that has missed more reads all entries of the workspace again.
const keptRemovals = 100_000

// state is how far a workspace has changed. The id of an entry is higher than
// all before it and is never used again, so a process knows from these numbers
// which entries it has not seen.
type state struct {
	written  int64 // no entry of the workspace has a higher id
	removals int64 // the number of the last removal in the workspace
}

func createOccurrences(workspace int64) string {
	return `CREATE VIRTUAL TABLE ` + occurrenceTable(workspace) + ` USING fts5vocab(` + wordTable(workspace) + `, instance)`
}

// newEntry returns the id of a new entry.
func (w *writing) newEntry(ctx context.Context) (int64, error) {
	if w.lastEntry == 0 {
		if err := w.tx.QueryRowContext(ctx, `SELECT coalesce(max(written), 0) FROM workspaces`).Scan(&w.lastEntry); err != nil {
			return 0, err
		}
	}
	w.lastEntry++
	return w.lastEntry, nil
}

// noteRemoved lists a removed entry.
func (w *writing) noteRemoved(ctx context.Context, workspace, entry int64) error {
	w.removed[workspace] = true
	return w.exec(ctx, `INSERT INTO removals (workspace, entry) VALUES (?, ?)`, workspace, entry)
}

// noteChanges numbers the changes of the transaction, at its end.
func (w *writing) noteChanges(ctx context.Context) error {
	if err := w.noteVectors(ctx); err != nil {
		return err
	}
	for _, workspace := range w.workspaces {
		if err := w.exec(ctx, `UPDATE workspaces SET written = max(written, ?) WHERE id = ?`, w.lastEntry, workspace); err != nil {
			return err
		}
	}
	for workspace := range w.removed {
		if err := w.exec(ctx, `UPDATE workspaces SET removals = (SELECT max(number) FROM removals) WHERE id = ?`, workspace); err != nil {
			return err
		}
	}
	if len(w.removed) == 0 {
		return nil
	}
	return w.exec(ctx, `DELETE FROM removals WHERE number <= (SELECT max(number) FROM removals) - ?`, keptRemovals)
}

func (s *statements) state(ctx context.Context, workspace int64) (now state, err error) {
	q := query{`SELECT written, removals FROM workspaces WHERE id = ?`, []any{workspace}, true}
	if err := s.scan(ctx, q, &now.written, &now.removals); err != nil {
		return now, fmt.Errorf("read the state of workspace %d: %w", workspace, err)
	}
	return now, nil
}

// removals returns the entries of a workspace that were removed after one
// removal and up to another. complete is false if the file no longer lists all.
func (s *statements) removals(ctx context.Context, workspace, after, upto int64) (entries []int64, complete bool, err error) {
	var first int64
	var joined string
	err = s.pool.QueryRowContext(ctx, `SELECT (SELECT min(number) FROM removals),
		(SELECT coalesce(group_concat(entry), '') FROM removals WHERE number > ? AND number <= ? AND workspace = ?)`,
		after, upto, workspace).Scan(&first, &joined)
	if err != nil {
		return nil, false, fmt.Errorf("list removed entries of workspace %d: %w", workspace, err)
	}
	entries, err = numbers(joined)
	return entries, first <= after+1, err
}

// texts returns the words of entries that are still in the file.
func (s *statements) texts(ctx context.Context, workspace int64, entries []int64) (map[int64]string, error) {
	rows, err := s.pool.QueryContext(ctx, `SELECT id, c0 FROM `+wordTable(workspace)+`_content WHERE id BETWEEN ? AND ?`,
		entries[0], entries[len(entries)-1])
	if err != nil {
		return nil, fmt.Errorf("read the words of new passages: %w", err)
	}
	defer rows.Close()
	texts := make(map[int64]string, len(entries))
	for rows.Next() {
		var id int64
		var text string
		if err := rows.Scan(&id, &text); err != nil {
			return nil, fmt.Errorf("read the words of new passages: %w", err)
		}
		texts[id] = text
	}
	return texts, rows.Err()
}
