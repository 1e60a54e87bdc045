package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// vectorsPerChunk is the number of vectors that vec0 allocates at a time in a
// partition. Measured with 384 dimensions: with 64 the first vector of a
// project costs .5 ms and 100 KB, with 1,024 it costs 8 ms and 1.6 MB, and
// searches are equally fast.
const vectorsPerChunk = 64

// schema is the schema of every index. A row of versions is one version of one
// document: its entries share its fields, tokens and tags.
const schema = `
CREATE TABLE IF NOT EXISTS workspaces (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE
);
CREATE TABLE IF NOT EXISTS versions (
	id INTEGER PRIMARY KEY,
	workspace INTEGER NOT NULL,
	project TEXT NOT NULL,
	document_id TEXT NOT NULL,
	version INTEGER NOT NULL,
	name TEXT NOT NULL,
	language TEXT NOT NULL,
	classification TEXT NOT NULL,
	created_at INTEGER NOT NULL, -- microseconds since 1970, 0 = unknown
	metadata TEXT NOT NULL,      -- a JSON object
	UNIQUE (workspace, document_id, version)
);
CREATE INDEX IF NOT EXISTS versions_project ON versions (workspace, project);
CREATE TABLE IF NOT EXISTS acl (
	version_id INTEGER NOT NULL REFERENCES versions (id) ON DELETE CASCADE,
	token TEXT NOT NULL,
	PRIMARY KEY (version_id, token)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS tags (
	version_id INTEGER NOT NULL REFERENCES versions (id) ON DELETE CASCADE,
	tag TEXT NOT NULL,
	PRIMARY KEY (version_id, tag)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS entries (
	id INTEGER PRIMARY KEY,      -- also the rowid of its vector and of its words
	version_id INTEGER NOT NULL REFERENCES versions (id),
	chunk_id TEXT NOT NULL,
	ordinal INTEGER NOT NULL,
	dimension INTEGER NOT NULL,  -- 0 = no vector
	language TEXT NOT NULL DEFAULT '', -- '' = that of the version
	UNIQUE (version_id, chunk_id)
);`

func (x *Index) migrate(ctx context.Context) error {
	if _, err := x.writer.ExecContext(ctx, schema); err != nil {
		return fmt.Errorf("create tables: %w", err)
	}
	if err := x.addChunkLanguage(ctx); err != nil {
		return err
	}
	rows, err := x.writer.QueryContext(ctx, `SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE vectors%'`)
	if err != nil {
		return fmt.Errorf("list vector tables: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return fmt.Errorf("list vector tables: %w", err)
		}
		if d, err := strconv.Atoi(strings.TrimPrefix(name, "vectors_")); err == nil {
			x.dimensions[d] = true
		}
	}
	return rows.Err()
}

// addChunkLanguage adds the language of a chunk to an index that was made without it.
func (x *Index) addChunkLanguage(ctx context.Context) error {
	var n int
	err := x.writer.QueryRowContext(ctx, `SELECT count(*) FROM pragma_table_info('entries') WHERE name = 'language'`).Scan(&n)
	if err == nil && n == 0 {
		_, err = x.writer.ExecContext(ctx, `ALTER TABLE entries ADD COLUMN language TEXT NOT NULL DEFAULT ''`)
	}
	if err != nil {
		return fmt.Errorf("add the language of chunks: %w", err)
	}
	return nil
}

func vectorTable(dimension int) string { return "vectors_" + strconv.Itoa(dimension) }
func wordTable(workspace int64) string { return "words_" + strconv.FormatInt(workspace, 10) }
func vocabularyTable(workspace int64) string {
	return "vocabulary_" + strconv.FormatInt(workspace, 10)
}
func (x *Index) hasDimension(d int) bool { x.mu.RLock(); defer x.mu.RUnlock(); return x.dimensions[d] }

// findDimension reports whether there is a table for vectors of a dimension, which
// another process may have created.
func (x *Index) findDimension(ctx context.Context, d int) (bool, error) {
	if x.hasDimension(d) {
		return true, nil
	}
	var n int
	err := x.reader.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = ?`, vectorTable(d)).Scan(&n)
	if err != nil || n == 0 {
		return false, err
	}
	x.remember(nil, []int{d})
	return true, nil
}

// createVectorTable creates the table for a dimension. Vectors are normalised,
// so the L2 distance ranks like the cosine, and it is faster to compute.
func createVectorTable(ctx context.Context, tx *sql.Tx, dimension int) error {
	_, err := tx.ExecContext(ctx, fmt.Sprintf(
		`CREATE VIRTUAL TABLE IF NOT EXISTS %s USING vec0(
			workspace integer partition key, project text partition key,
			vector float[%d] distance_metric=L2, chunk_size=%d)`,
		vectorTable(dimension), dimension, vectorsPerChunk))
	if err != nil {
		return fmt.Errorf("create table for vectors of %d: %w", dimension, err)
	}
	return nil
}

// createWorkspace returns the workspace's id. It creates a new workspace with
// the tables for its words.
func createWorkspace(ctx context.Context, tx *sql.Tx, name string) (int64, error) {
	var id int64
	err := tx.QueryRowContext(ctx, `SELECT id FROM workspaces WHERE name = ?`, name).Scan(&id)
	if err == nil || !errors.Is(err, sql.ErrNoRows) {
		return id, err
	}
	if err := tx.QueryRowContext(ctx, `INSERT INTO workspaces (name) VALUES (?) RETURNING id`, name).Scan(&id); err != nil {
		return 0, err
	}
	// The ascii tokenizer splits at every ASCII character other than letters
	// and digits, and nowhere else: exactly at the spaces between our words.
	_, err = tx.ExecContext(ctx, fmt.Sprintf(
		`CREATE VIRTUAL TABLE %[1]s USING fts5(words, tokenize = 'ascii');
		 INSERT INTO %[1]s (%[1]s, rank) VALUES ('secure-delete', 1);
		 INSERT INTO %[1]s (%[1]s, rank) VALUES ('usermerge', 2);
		 CREATE VIRTUAL TABLE %[2]s USING fts5vocab(%[1]s, row);`, wordTable(id), vocabularyTable(id)))
	return id, err
}

// workspace returns the id of a workspace that has or had entries, 0 if there
// is none.
func (x *Index) workspace(ctx context.Context, name string) (int64, error) {
	x.mu.RLock()
	id, ok := x.workspaces[name]
	x.mu.RUnlock()
	if ok {
		return id, nil
	}
	err := x.reader.QueryRowContext(ctx, `SELECT id FROM workspaces WHERE name = ?`, name).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("look up workspace %s: %w", name, err)
	}
	x.remember(map[string]int64{name: id}, nil)
	return id, nil
}

// remember caches committed workspaces and dimensions.
func (x *Index) remember(workspaces map[string]int64, dimensions []int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for name, id := range workspaces {
		x.workspaces[name] = id
	}
	for _, d := range dimensions {
		x.dimensions[d] = true
	}
}
