package childserver

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"time"
)

// CopyDocument writes n documents with their versions, access tokens and runs into the database of a
// server that is stopped, as many as no test could upload. They have the values of a document, an
// age of a hundred days, external ids that begin with "old-", and neither passages nor originals.
// Their ids follow from their numbers, which begin at first.
func CopyDocument(ctx context.Context, db *sql.DB, document string, first, n int) error {
	numbers := fmt.Sprintf("WITH RECURSIVE numbers (n) AS (SELECT %d UNION ALL SELECT n + 1 FROM numbers WHERE n < %d) ", first, first+n-1)
	const digits = "substr(CAST(1000000000000 + n AS TEXT), 2)"
	const id, run = "'00000000-0000-4000-8000-' || " + digits, "'00000000-0000-4000-9000-' || " + digits
	old := fmt.Sprint(time.Now().AddDate(0, 0, -100).UnixMicro(), " + n")
	for _, table := range []struct {
		name, where string
		values      map[string]string // in place of those of the document
	}{
		{"documents", "t.id", map[string]string{"id": id, "external_id": "'old-' || n", "created_at": old, "updated_at": old, "chunk_count": "0"}},
		{"document_versions", "t.document_id", map[string]string{"document_id": id, "run_id": run, "created_at": old, "updated_at": old, "chunk_count": "0", "source_key": "''"}},
		{"document_tokens", "t.document_id", map[string]string{"document_id": id}},
		{"runs", "t.kind = 'ingest' AND t.subject", map[string]string{"id": run, "subject": id, "created_at": old, "ended_at": old, "log_key": "''"}},
	} {
		into, from, err := columns(ctx, db, table.name, table.values)
		if err == nil {
			statement := "INSERT INTO " + table.name + " (" + into + ") " + numbers + "SELECT " + from + " FROM " + table.name + " AS t, numbers WHERE " + table.where + " = '" + document + "'"
			_, err = db.ExecContext(ctx, statement)
		}
		if err != nil {
			return fmt.Errorf("copy document %s: %s: %w", document, table.name, err)
		}
	}
	return nil
}

// columns lists the columns of a table t, and their values with the given ones in their place.
func columns(ctx context.Context, db *sql.DB, table string, given map[string]string) (into, from string, err error) {
	found, err := db.QueryContext(ctx, "SELECT * FROM "+table+" LIMIT 0")
	if err != nil {
		return "", "", err
	}
	defer found.Close()
	names, err := found.Columns()
	if err != nil {
		return "", "", err
	}
	values := make([]string, len(names))
	for i, name := range names {
		if values[i] = "t." + name; given[name] != "" {
			values[i] = given[name]
		}
	}
	return strings.Join(names, ", "), strings.Join(values, ", "), found.Err()
}
