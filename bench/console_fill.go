package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite" // the driver of the server's database
)

// fillDocuments stops the server, copies the rows of its one document until there are so many
// documents, and starts it again. The copies have no passages.
func (s *server) fillDocuments(ctx context.Context, count int) (err error) {
	if err := s.Stop(); err != nil {
		return err
	}
	db, err := sql.Open("sqlite", filepath.Join(s.folder, "data", "cairn.db"))
	if err != nil {
		return err
	}
	err = copyDocument(ctx, db, count-1)
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	_, err = s.start(ctx)
	return err
}

// copyDocument adds copies of the one document, each older than the one before.
func copyDocument(ctx context.Context, db *sql.DB, copies int) error {
	rows, err := db.QueryContext(ctx, "SELECT name FROM pragma_table_info('documents')")
	if err != nil {
		return err
	}
	defer rows.Close()
	var columns, values []string
	for rows.Next() {
		var column string
		if err := rows.Scan(&column); err != nil {
			return err
		}
		value := map[string]string{
			"id":          "printf('00000000-0000-5000-8000-%012d', n.i)",
			"external_id": "'reports/' || n.i || '.txt'", "name": "'Report ' || n.i || '.txt'",
			"created_at": "d.created_at - 1000 * n.i", "updated_at": "d.updated_at - 1000 * n.i",
		}[column]
		if value == "" {
			value = "d." + column
		}
		columns, values = append(columns, column), append(values, value)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	count := fmt.Sprintf("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) ", copies)
	for _, statement := range []string{
		"INSERT INTO documents (" + strings.Join(columns, ", ") + ") " + count + "SELECT " + strings.Join(values, ", ") + " FROM n CROSS JOIN (SELECT * FROM documents LIMIT 1) AS d",
		"INSERT INTO document_tokens (document_id, token) " + count + "SELECT printf('00000000-0000-5000-8000-%012d', n.i), t.token FROM n CROSS JOIN (SELECT token FROM document_tokens) AS t",
	} {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("copy the document: %w", err)
		}
	}
	return nil
}
