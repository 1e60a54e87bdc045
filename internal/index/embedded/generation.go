package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/index"
)

// vectorsPerChunk is the number of vectors that vec0 allocates at a time in a
// partition. Measured with 384 dimensions: with 64 the first vector of a
// project costs .5 ms and 100 KB, with 1,024 it costs 8 ms and 1.6 MB, and
// searches are equally fast.
const vectorsPerChunk = 64

// generation is where the vectors of a generation are. A row of its table has the id of
// its entry. The words of an entry stand once, however many vectors it has.
type generation struct {
	table     string
	dimension int
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
	err = x.reader.QueryRowContext(ctx, `SELECT vectors, dimension FROM generations WHERE name = ?`, name).Scan(&g.table, &g.dimension)
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
func (w *writing) generation(ctx context.Context, name string, dimension int) (generation, error) {
	all, err := w.allGenerations(ctx)
	if err != nil {
		return generation{}, err
	}
	g, ok := all[name]
	if !ok {
		if g, err = createGeneration(ctx, w.tx, name, dimension); err != nil {
			return g, fmt.Errorf("create generation %s: %w", name, err)
		}
		all[name] = g
	}
	if g.dimension != dimension {
		return g, index.OtherLength(name, g.dimension, dimension)
	}
	return g, nil
}

// allGenerations returns the generations by name, as the transaction sees them.
func (w *writing) allGenerations(ctx context.Context) (map[string]generation, error) {
	if w.generations != nil {
		return w.generations, nil
	}
	rows, err := w.tx.QueryContext(ctx, `SELECT name, vectors, dimension FROM generations`)
	if err != nil {
		return nil, fmt.Errorf("list generations: %w", err)
	}
	defer rows.Close()
	all := map[string]generation{}
	for rows.Next() {
		var name string
		var g generation
		if err := rows.Scan(&name, &g.table, &g.dimension); err != nil {
			return nil, fmt.Errorf("list generations: %w", err)
		}
		all[name] = g
	}
	w.generations = all
	return all, rows.Err()
}

// createGeneration creates a generation and the table of its vectors. They are
// normalised, so the L2 distance ranks like the cosine, and it is faster to compute.
func createGeneration(ctx context.Context, tx *sql.Tx, name string, dimension int) (generation, error) {
	var id int64
	err := tx.QueryRowContext(ctx, `INSERT INTO generations (name, dimension, vectors)
		VALUES (?, ?, 'vectors_g' || (SELECT COALESCE(max(id), 0) + 1 FROM generations)) RETURNING id`, name, dimension).Scan(&id)
	if err != nil {
		return generation{}, err
	}
	g := generation{table: "vectors_g" + strconv.FormatInt(id, 10), dimension: dimension}
	_, err = tx.ExecContext(ctx, fmt.Sprintf(
		`CREATE VIRTUAL TABLE %s USING vec0(
			workspace integer partition key, project text partition key,
			vector float[%d] distance_metric=L2, chunk_size=%d)`, g.table, dimension, vectorsPerChunk))
	return g, err
}

// eraseVectors erases the vectors of an entry of all generations.
func (w *writing) eraseVectors(ctx context.Context, id int64) error {
	all, err := w.allGenerations(ctx)
	if err != nil {
		return err
	}
	for _, g := range all {
		if err := w.eraseVector(ctx, g, id); err != nil {
			return err
		}
	}
	return nil
}

func (w *writing) eraseVector(ctx context.Context, g generation, id int64) error {
	return w.exec(ctx, `DELETE FROM `+g.table+` WHERE rowid = ?`, id)
}

// RemoveGeneration removes the vectors of a generation from the entries of a project.
func (x *Index) RemoveGeneration(ctx context.Context, workspaceName, project, name string) error {
	workspace, err := x.workspace(ctx, workspaceName)
	if err != nil || workspace == 0 {
		return err
	}
	g, ok, err := x.findGeneration(ctx, name)
	if err != nil || !ok {
		return err
	}
	for after, more := int64(0), true; more; {
		err := x.write(ctx, func(tx *sql.Tx) (err error) {
			after, more, err = eraseGeneration(ctx, tx, g, workspace, project, after)
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
func eraseGeneration(ctx context.Context, tx *sql.Tx, g generation, workspace int64, project string, after int64) (last int64, more bool, err error) {
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
	w := writing{tx: tx, statements: map[string]*sql.Stmt{}}
	for _, id := range ids {
		if err := w.eraseVector(ctx, g, id); err != nil {
			return 0, false, err
		}
	}
	return last, len(ids) == vectorBatch, nil
}

// adoptVectors makes tables of vectors that were written before vectors had a generation
// tables of one: the table of most entries is that of Config.Generation.
func (x *Index) adoptVectors(ctx context.Context) error {
	// A row without a name is of a file that was written before projects had generations.
	_, err := x.writer.ExecContext(ctx, `UPDATE generations SET name = ?1 WHERE name = '' AND NOT EXISTS (SELECT 1 FROM generations WHERE name = ?1)`, x.generation)
	if err != nil {
		return fmt.Errorf("name the generation of vectors: %w", err)
	}
	legacy, err := x.legacyTables(ctx)
	if err != nil {
		return fmt.Errorf("list vector tables: %w", err)
	}
	for i, dimension := range legacy {
		name := x.generation
		if i > 0 {
			name = "?/" + strconv.Itoa(dimension)
		}
		_, err := x.writer.ExecContext(ctx, `INSERT INTO generations (name, dimension, vectors) VALUES (?, ?, ?) ON CONFLICT DO NOTHING`,
			name, dimension, legacyTable(dimension))
		if err != nil {
			return fmt.Errorf("name the generation of vectors of %d: %w", dimension, err)
		}
	}
	return nil
}

func legacyTable(dimension int) string { return "vectors_" + strconv.Itoa(dimension) }

// legacyTables returns the dimensions of the tables without a generation, that of most
// entries first.
func (x *Index) legacyTables(ctx context.Context) ([]int, error) {
	rows, err := x.writer.QueryContext(ctx, `SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE vectors%'
		AND name NOT IN (SELECT vectors FROM generations)`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var dimensions []int
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		if d, err := strconv.Atoi(strings.TrimPrefix(name, "vectors_")); err == nil {
			dimensions = append(dimensions, d)
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil || len(dimensions) < 2 {
		return dimensions, err
	}
	return x.byEntries(ctx, dimensions)
}

func (x *Index) byEntries(ctx context.Context, dimensions []int) ([]int, error) {
	rows, err := x.writer.QueryContext(ctx, `SELECT value FROM json_each(?) ORDER BY (SELECT count(*) FROM entries WHERE dimension = value) DESC, value`,
		jsonList(dimensions))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var sorted []int
	for rows.Next() {
		var d int
		if err := rows.Scan(&d); err != nil {
			return nil, err
		}
		sorted = append(sorted, d)
	}
	return sorted, rows.Err()
}
