package sqltable

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	maxColumns = 500
	sampleRows = 3
)

// Input is a document of which tables are made.
type Input struct {
	Name   string // of the document
	Layout knowledge.Layout
	Chunks []knowledge.Chunk
}

// Write writes the tables of a document to a new SQLite file. It writes the same for the same
// input. A document without tables has an empty catalog.
func Write(ctx context.Context, path string, in Input) (catalog Catalog, err error) {
	tables := tablesOf(in.Layout)
	if len(tables) == 0 {
		return catalog, nil
	}
	db, err := sql.Open("sqlite", fileURL(path, "_pragma=journal_mode(OFF)&_pragma=synchronous(OFF)"))
	if err != nil {
		return catalog, fmt.Errorf("make the tables: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return catalog, fmt.Errorf("make the tables: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // without effect after the commit
	taken := names{}
	for _, r := range tables {
		named := r.sheet
		if named == "" {
			named = strings.TrimSuffix(in.Name, filepath.Ext(in.Name))
		}
		table, err := r.write(ctx, tx, taken.of(named, "table_1"))
		if err != nil {
			return catalog, fmt.Errorf("make the table of sheet %d: %w", len(catalog.Tables)+1, err)
		}
		table.Anchors = anchors(in.Chunks, table)
		catalog.Tables = append(catalog.Tables, table)
	}
	if err := tx.Commit(); err != nil {
		return catalog, fmt.Errorf("make the tables: %w", err)
	}
	return catalog, nil
}

func fileURL(path, query string) string {
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: query}).String()
}

// write makes a table and returns its description.
func (r *rows) write(ctx context.Context, tx *sql.Tx, name string) (Table, error) {
	converters := r.converters(r.columns())
	t := Table{Name: name, Sheet: r.sheet, Title: r.title, Rows: len(r.cells), First: slices.Min(r.numbers), Last: slices.Max(r.numbers), Totals: r.totals()}
	defined := []string{quoted(RowColumn) + " INTEGER"}
	for _, c := range converters {
		t.Columns = append(t.Columns, c.Column)
		defined = append(defined, quoted(c.Name)+" "+c.Type)
	}
	if _, err := tx.ExecContext(ctx, "CREATE TABLE "+quoted(name)+" ("+strings.Join(defined, ", ")+")"); err != nil {
		return t, err
	}
	insert, err := tx.PrepareContext(ctx, "INSERT INTO "+quoted(name)+" VALUES (?"+strings.Repeat(",?", len(converters))+")")
	if err != nil {
		return t, err
	}
	defer func() { _ = insert.Close() }()
	values := make([]any, 1+len(converters))
	for i, cells := range r.cells {
		values[0] = r.numbers[i]
		for k, c := range converters {
			values[1+k] = nil
			if k < len(cells) {
				values[1+k] = c.value(i, cells[k])
			}
		}
		if _, err := insert.ExecContext(ctx, values...); err != nil {
			return t, fmt.Errorf("row %d: %w", i+1, err)
		}
		if i < sampleRows {
			t.Sample = append(t.Sample, shown(values))
		}
	}
	return t, nil
}

// anchors returns the chunks in which rows of a table begin.
func anchors(chunks []knowledge.Chunk, t Table) []Anchor {
	var found []Anchor
	for _, c := range chunks {
		first := c.Origin.First
		if t.Sheet != "" {
			first = firstRow(c.Place, t.Sheet)
		}
		if first > 0 && first <= t.Last {
			found = append(found, Anchor{Row: first, Ordinal: c.Ordinal})
		}
	}
	return found
}

// firstRow returns the first row of a sheet in a place such as "Sales!A2:D41, Costs!A1:B7", 0
// if it has none.
func firstRow(place, sheet string) int {
	for one := range strings.SplitSeq(place, ", ") {
		at := strings.LastIndexByte(one, '!')
		if at < 0 || one[:at] != sheet && one[:at] != "'"+strings.ReplaceAll(sheet, "'", "''")+"'" {
			continue
		}
		row := 0
		for _, r := range strings.TrimLeft(one[at+1:], "ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
			if r < '0' || r > '9' {
				break
			}
			row = row*10 + int(r-'0')
		}
		return row
	}
	return 0
}
