package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"

	"github.com/cairn-rag/cairn/internal/index"
)

// generation is where the vectors of a generation are. The words of an entry stand
// once, however many vectors it has.
//
// A vector has a number, which is higher than those before and is never used again.
// Its table dense has it in full; its table sketches has its sketch, its entry, and
// where it is searched for.
type generation struct {
	id        int64
	dimension int
}

func (g generation) dense() string    { return "dense_" + strconv.FormatInt(g.id, 10) }
func (g generation) sketches() string { return "sketches_" + strconv.FormatInt(g.id, 10) }

// generationWriting is a generation with the changes of a transaction.
type generationWriting struct {
	generation
	written int64 // the number of the last vector
	erased  int   // vectors that the transaction has erased
	changed bool
}

// findGeneration returns a generation, which another process may have created. ok is
// false if there is none.
func (x *Index) findGeneration(ctx context.Context, name string) (g generation, ok bool, err error) {
	x.mu.RLock()
	g, ok = x.generations[name]
	x.mu.RUnlock()
	if ok {
		return g, true, nil
	}
	err = x.reader.QueryRowContext(ctx, `SELECT id, dimension FROM generations WHERE name = ?`, name).Scan(&g.id, &g.dimension)
	if errors.Is(err, sql.ErrNoRows) {
		return g, false, nil
	}
	if err != nil {
		return g, false, fmt.Errorf("look up generation %s: %w", name, err)
	}
	x.remember(nil, map[string]generation{name: g})
	return g, true, nil
}

// generation returns the generation of vectors that are written, which it creates with
// their length if there is none.
func (w *writing) generation(ctx context.Context, name string, dimension int) (*generationWriting, error) {
	all, err := w.allGenerations(ctx)
	if err != nil {
		return nil, err
	}
	g, ok := all[name]
	if !ok {
		if g, err = createGeneration(ctx, w.tx, name, dimension); err != nil {
			return nil, fmt.Errorf("create generation %s: %w", name, err)
		}
		all[name] = g
	}
	if g.dimension != dimension {
		return nil, index.OtherLength(name, g.dimension, dimension)
	}
	return g, nil
}

// allGenerations returns the generations by name, as the transaction sees them.
func (w *writing) allGenerations(ctx context.Context) (map[string]*generationWriting, error) {
	if w.generations != nil {
		return w.generations, nil
	}
	rows, err := w.tx.QueryContext(ctx, `SELECT name, id, dimension, written FROM generations`)
	if err != nil {
		return nil, fmt.Errorf("list generations: %w", err)
	}
	defer rows.Close()
	all := map[string]*generationWriting{}
	for rows.Next() {
		var name string
		var g generationWriting
		if err := rows.Scan(&name, &g.id, &g.dimension, &g.written); err != nil {
			return nil, fmt.Errorf("list generations: %w", err)
		}
		all[name] = &g
	}
	w.generations = all
	return all, rows.Err()
}

// createGeneration creates a generation and the tables of its vectors.
func createGeneration(ctx context.Context, tx *sql.Tx, name string, dimension int) (*generationWriting, error) {
	g := &generationWriting{generation: generation{dimension: dimension}}
	err := tx.QueryRowContext(ctx, `INSERT INTO generations (name, dimension, vectors)
		VALUES (?, ?, 'dense_' || (SELECT COALESCE(max(id), 0) + 1 FROM generations)) RETURNING id`, name, dimension).Scan(&g.id)
	if err != nil {
		return nil, err
	}
	return g, g.createTables(ctx, tx)
}

func (g generation) createTables(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, fmt.Sprintf(`
		CREATE TABLE %s (
			number INTEGER PRIMARY KEY,
			entry INTEGER NOT NULL,
			vector BLOB NOT NULL         -- little-endian float32, of length 1
		);
		CREATE TABLE %s (
			number INTEGER PRIMARY KEY,
			entry INTEGER NOT NULL UNIQUE,
			workspace INTEGER NOT NULL,
			project TEXT NOT NULL,
			sketch BLOB NOT NULL         -- little-endian words of signs, then the factor as a float32
		)`, g.dense(), g.sketches()))
	return err
}

// putVector writes the vector of an entry that has none of the generation.
func (w *writing) putVector(ctx context.Context, g *generationWriting, entry, workspace int64, r *row) error {
	g.written++
	g.changed = true
	err := w.exec(ctx, `INSERT INTO `+g.dense()+` (number, entry, vector) VALUES (?, ?, ?)`, g.written, entry, r.vector)
	if err != nil {
		return err
	}
	return w.exec(ctx, `INSERT INTO `+g.sketches()+` (number, entry, workspace, project, sketch) VALUES (?, ?, ?, ?, ?)`,
		g.written, entry, workspace, r.entry.Project, r.sketch)
}

// eraseVectors erases the vectors of an entry of all generations.
func (w *writing) eraseVectors(ctx context.Context, entry int64) error {
	all, err := w.allGenerations(ctx)
	if err != nil {
		return err
	}
	for _, g := range all {
		if err := w.eraseVector(ctx, g, entry); err != nil {
			return err
		}
	}
	return nil
}

func (w *writing) eraseVector(ctx context.Context, g *generationWriting, entry int64) error {
	remove, err := w.prepare(ctx, `DELETE FROM `+g.sketches()+` WHERE entry = ? RETURNING number`) //nolint:sqlclosecheck // the transaction closes it
	if err != nil {
		return err
	}
	var number int64
	err = remove.QueryRowContext(ctx, entry).Scan(&number)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	g.erased++
	g.changed = true
	return w.exec(ctx, `DELETE FROM `+g.dense()+` WHERE number = ?`, number)
}

// noteVectors stores the numbers of the changed generations, at the end of the
// transaction.
func (w *writing) noteVectors(ctx context.Context) error {
	for _, g := range w.generations {
		if !g.changed {
			continue
		}
		err := w.exec(ctx, `UPDATE generations SET written = ?, removals = removals + ? WHERE id = ?`, g.written, g.erased, g.id)
		if err != nil {
			return err
		}
	}
	return nil
}

// RemoveGeneration removes the vectors of a generation from the entries of a project.
func (x *Index) RemoveGeneration(ctx context.Context, workspaceName, project, name string) error {
	workspace, err := x.workspace(ctx, workspaceName)
	if err != nil || workspace == 0 {
		return err
	}
	if _, ok, err := x.findGeneration(ctx, name); err != nil || !ok {
		return err
	}
	for after, more := int64(0), true; more; {
		err := x.write(ctx, func(tx *sql.Tx) (err error) {
			after, more, err = eraseGeneration(ctx, tx, name, workspace, project, after)
			return err
		})
		if err != nil {
			return fmt.Errorf("remove generation %s of project %s from the index: %w", name, project, err)
		}
	}
	x.tidier.noteWrite(workspace)
	return nil
}

// eraseGeneration erases the vectors of a batch of a project's entries, those whose ids
// follow after, and returns the last id.
func eraseGeneration(ctx context.Context, tx *sql.Tx, name string, workspace int64, project string, after int64) (last int64, more bool, err error) {
	rows, err := tx.QueryContext(ctx, `SELECT e.id FROM versions v JOIN entries e ON e.version_id = v.id
		WHERE v.workspace = ? AND v.project = ? AND e.id > ? ORDER BY e.id LIMIT ?`, workspace, project, after, vectorBatch)
	if err != nil {
		return 0, false, err
	}
	defer rows.Close()
	var ids []int64
	for rows.Next() {
		if err := rows.Scan(&last); err != nil {
			return 0, false, err
		}
		ids = append(ids, last)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return 0, false, err
	}
	w := newWriting(tx)
	all, err := w.allGenerations(ctx)
	if err != nil {
		return 0, false, err
	}
	for _, id := range ids {
		if err := w.eraseVector(ctx, all[name], id); err != nil {
			return 0, false, err
		}
	}
	return last, len(ids) == vectorBatch, w.noteVectors(ctx)
}
