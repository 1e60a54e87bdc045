package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"strconv"
)

// schema is the schema of every index. A row of versions is one version of one
// document: its entries share its fields, tokens and tags.
const schema = `
CREATE TABLE IF NOT EXISTS workspaces (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE,
	written INTEGER NOT NULL DEFAULT 0, -- the number of the last entry
	removals INTEGER NOT NULL DEFAULT 0 -- the number of the last removal
);
CREATE INDEX IF NOT EXISTS workspaces_written ON workspaces (written);
CREATE TABLE IF NOT EXISTS removals (
	number INTEGER PRIMARY KEY,
	workspace INTEGER NOT NULL,
	entry INTEGER NOT NULL
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
	id INTEGER PRIMARY KEY,      -- also the rowid of its vector and of its words; never used again
	version_id INTEGER NOT NULL REFERENCES versions (id),
	chunk_id TEXT NOT NULL,
	ordinal INTEGER NOT NULL,
	dimension INTEGER NOT NULL,  -- 0 = no vector of any generation
	language TEXT NOT NULL DEFAULT '', -- '' = the version's
	UNIQUE (version_id, chunk_id)
);
CREATE TABLE IF NOT EXISTS generations (
	id INTEGER PRIMARY KEY,
	name TEXT NOT NULL UNIQUE,
	dimension INTEGER NOT NULL,
	vectors TEXT NOT NULL,       -- the table of its vectors
	written INTEGER NOT NULL DEFAULT 0, -- the number of the last vector
	removals INTEGER NOT NULL DEFAULT 0 -- how many vectors were removed
);`

func (x *Index) migrate(ctx context.Context) error {
	if _, err := x.writer.ExecContext(ctx, schema); err != nil {
		return fmt.Errorf("create tables: %w", err)
	}
	return nil
}

func wordTable(workspace int64) string { return "words_" + strconv.FormatInt(workspace, 10) }
func occurrenceTable(workspace int64) string {
	return "occurrences_" + strconv.FormatInt(workspace, 10)
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
		 %[2]s;`, wordTable(id), createOccurrences(id)))
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

// remember caches committed workspaces and generations.
func (x *Index) remember(workspaces map[string]int64, generations map[string]generation) {
	x.mu.Lock()
	defer x.mu.Unlock()
	maps.Copy(x.workspaces, workspaces)
	maps.Copy(x.generations, generations)
}
