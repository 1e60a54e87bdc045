package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// adoptVectors makes tables of vectors that were written before vectors had a generation
// tables of one: the table of most entries becomes the table of Config.Generation.
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
	return x.copyVectors(ctx)
}

// addVectorNumbers adds the numbers of changes to generations that were made without
// them.
func (x *Index) addVectorNumbers(ctx context.Context) error {
	var n int
	err := x.writer.QueryRowContext(ctx, `SELECT count(*) FROM pragma_table_info('generations') WHERE name = 'written'`).Scan(&n)
	if err == nil && n == 0 {
		_, err = x.writer.ExecContext(ctx, `ALTER TABLE generations ADD COLUMN written INTEGER NOT NULL DEFAULT 0;
			ALTER TABLE generations ADD COLUMN removals INTEGER NOT NULL DEFAULT 0`)
	}
	if err != nil {
		return fmt.Errorf("number the changes of vectors: %w", err)
	}
	return nil
}

// copyVectors moves the vectors of vec0 tables, which earlier versions made, to tables
// with sketches.
func (x *Index) copyVectors(ctx context.Context) error {
	rows, err := x.writer.QueryContext(ctx, `SELECT id, dimension, vectors FROM generations WHERE vectors <> 'dense_' || id`)
	if err != nil {
		return fmt.Errorf("list vector tables: %w", err)
	}
	defer rows.Close()
	tables := map[generation]string{}
	for rows.Next() {
		var g generation
		var table string
		if err := rows.Scan(&g.id, &g.dimension, &table); err != nil {
			return fmt.Errorf("list vector tables: %w", err)
		}
		tables[g] = table
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return fmt.Errorf("list vector tables: %w", err)
	}
	for g, table := range tables {
		x.log.Info("moving vectors to a table with sketches", "table", table, "dimension", g.dimension)
		if err := x.write(ctx, func(tx *sql.Tx) error { return copyTable(ctx, tx, g, table) }); err != nil {
			return fmt.Errorf("move the vectors of table %s: %w", table, err)
		}
	}
	return nil
}

func copyTable(ctx context.Context, tx *sql.Tx, g generation, table string) error {
	if err := g.createTables(ctx, tx); err != nil {
		return err
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO `+g.dense()+` (number, entry, vector) SELECT rowid, rowid, vector FROM `+table+` ORDER BY rowid`)
	if err != nil {
		return err
	}
	rotation := newRotation(g.dimension)
	for last, more := int64(0), true; more; {
		if last, more, err = sketchSome(ctx, tx, g, rotation, last); err != nil {
			return err
		}
	}
	_, err = tx.ExecContext(ctx, `DROP TABLE `+table+`;
		UPDATE generations SET vectors = 'dense_' || id, written = (SELECT coalesce(max(number), 0) FROM `+g.dense()+`) WHERE id = ?`, g.id)
	return err
}

// sketchSome writes the sketches of a batch of copied vectors, those that follow last.
func sketchSome(ctx context.Context, tx *sql.Tx, g generation, rotation *rotation, last int64) (int64, bool, error) {
	rows, err := tx.QueryContext(ctx, `SELECT d.number, v.workspace, v.project, d.vector FROM `+g.dense()+` d
		JOIN entries e ON e.id = d.entry JOIN versions v ON v.id = e.version_id WHERE d.number > ? ORDER BY d.number LIMIT ?`, last, vectorBatch)
	if err != nil {
		return 0, false, err
	}
	defer rows.Close()
	var values []any
	for rows.Next() {
		var number, workspace int64
		var project string
		var vector []byte
		if err := rows.Scan(&number, &workspace, &project, &vector); err != nil {
			return 0, false, err
		}
		values = append(values, number, number, workspace, project, rotation.sketchOf(floats(vector)))
		last = number
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil || len(values) == 0 {
		return last, false, err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO `+g.sketches()+` (number, entry, workspace, project, sketch) VALUES (?, ?, ?, ?, ?)`+
		strings.Repeat(", (?, ?, ?, ?, ?)", len(values)/5-1), values...)
	return last, len(values)/5 == vectorBatch, err
}

func legacyTable(dimension int) string { return "vectors_" + strconv.Itoa(dimension) }

// legacyTables returns the dimensions of the tables without a generation, of the table
// with most entries first.
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
