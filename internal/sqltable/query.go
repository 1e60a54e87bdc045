package sqltable

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// The bounds of a query.
const (
	MaxQuery  = 8 << 10 // bytes of its SQL
	Time      = 5 * time.Second
	MaxRows   = 200
	maxText   = 32 << 10 // bytes of its rows
	maxCell   = 500      // code points of a value
	maxHeap   = 256 << 20
	maxLength = 1 << 20 // bytes of a value while it is computed
)

// Result is the result of a query.
type Result struct {
	Tables  []string   `json:"tables,omitempty"` // that it read, by their names
	Columns []string   `json:"columns,omitempty"`
	Rows    [][]string `json:"rows,omitempty"`
	More    bool       `json:"more,omitempty"` // there are rows that were left out
	// First and Last are the rows of the sheet that the result names, 0 = none.
	First int `json:"first,omitempty"`
	Last  int `json:"last,omitempty"`
	// Refused says, to the model, why the query was not run or has failed.
	Refused string `json:"refused,omitempty"`
}

// Run runs a query of one SELECT on the tables of a file that Write has made. It cannot change
// the file. A query that is not allowed, is wrong, or takes too long is Result.Refused.
func Run(ctx context.Context, path, query string) (Result, error) {
	if len(query) > MaxQuery {
		return Result{Refused: fmt.Sprintf("the query has more than %d bytes", MaxQuery)}, nil
	}
	db, err := sql.Open("sqlite", fileURL(path, "mode=ro&immutable=1&_pragma=query_only(ON)&_pragma=trusted_schema(OFF)&_pragma=temp_store(MEMORY)&_pragma=hard_heap_limit("+strconv.Itoa(maxHeap)+")"))
	if err != nil {
		return Result{}, fmt.Errorf("open the tables: %w", err)
	}
	defer func() { _ = db.Close() }() // it was only read
	within, cancel := context.WithTimeout(ctx, Time)
	defer cancel()
	conn, err := db.Conn(within)
	if err != nil {
		return Result{}, fmt.Errorf("open the tables: %w", err)
	}
	defer func() { _ = conn.Close() }()
	if err := limit(conn); err != nil {
		return Result{}, fmt.Errorf("limit a query: %w", err)
	}
	result, err := run(within, conn, query)
	if r, ok := errors.AsType[refused](err); ok {
		result, err = Result{Refused: r.reason}, nil
	}
	if within.Err() != nil && ctx.Err() == nil {
		result, err = Result{Refused: fmt.Sprintf("the query took longer than %s", Time)}, nil
	}
	return result, err
}

// limit bounds what SQLite does for a query.
func limit(conn *sql.Conn) error {
	for id, most := range map[int]int{
		sqlite3.SQLITE_LIMIT_ATTACHED: 0, sqlite3.SQLITE_LIMIT_LENGTH: maxLength, sqlite3.SQLITE_LIMIT_SQL_LENGTH: MaxQuery + len("EXPLAIN "),
		sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 20, sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 100, sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 200,
	} {
		if _, err := sqlite.Limit(conn, id, most); err != nil {
			return err
		}
	}
	return nil
}

func run(ctx context.Context, conn *sql.Conn, query string) (Result, error) {
	tables, err := check(ctx, conn, query)
	if err != nil {
		return Result{}, err
	}
	found := Result{Tables: tables}
	rows, err := conn.QueryContext(ctx, query)
	if err != nil {
		return found, refused{err.Error()}
	}
	defer rows.Close()
	if found.Columns, err = rows.Columns(); err != nil {
		return found, refused{err.Error()}
	}
	values, targets := make([]any, len(found.Columns)), make([]any, len(found.Columns))
	for i := range values {
		targets[i] = &values[i]
	}
	size := 0
	for rows.Next() {
		if len(found.Rows) == MaxRows || size > maxText {
			found.More = true
			break
		}
		if err := rows.Scan(targets...); err != nil {
			return found, refused{err.Error()}
		}
		cells := shown(values)
		found.note(values)
		for _, c := range cells {
			size += len(c)
		}
		found.Rows = append(found.Rows, cells)
	}
	if err := rows.Err(); err != nil {
		return found, refused{err.Error()}
	}
	return found, nil
}

// The names of columns in which a query can say from which rows a row of its result is made.
const (
	firstColumn = "first_row"
	lastColumn  = "last_row"
)

// note widens First and Last by the rows that a row of the result names.
func (r *Result) note(values []any) {
	for i, name := range r.Columns {
		switch strings.ToLower(name) {
		case RowColumn, firstColumn, lastColumn:
		default:
			continue
		}
		row, ok := values[i].(int64)
		if !ok || row < 1 {
			continue
		}
		if r.First == 0 || int(row) < r.First {
			r.First = int(row)
		}
		r.Last = max(r.Last, int(row))
	}
}

// shown returns values as the model reads them.
func shown(values []any) []string {
	cells := make([]string, len(values))
	for i, v := range values {
		switch v := v.(type) {
		case nil:
			cells[i] = "NULL"
		case int:
			cells[i] = strconv.Itoa(v)
		case int64:
			cells[i] = strconv.FormatInt(v, 10)
		case float64:
			cells[i] = decimal(v)
		case string:
			cells[i] = cut(v)
		default:
			cells[i] = cut(fmt.Sprint(v))
		}
	}
	return cells
}

// decimal returns a number with the digits that a REAL keeps of a decimal number.
func decimal(v float64) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', exactDigits, 64), 64)
	if err != nil {
		rounded = v
	}
	return strconv.FormatFloat(rounded, 'f', -1, 64)
}

func cut(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
	if runes := []rune(text); len(runes) > maxCell {
		return string(runes[:maxCell]) + "…"
	}
	return text
}

// table returns the rows of a result as a table.
func (r Result) table() string {
	if len(r.Rows) == 0 {
		return "The result has no rows."
	}
	lines := []string{knowledge.TableHeader(r.Columns, len(r.Columns))}
	for _, cells := range r.Rows {
		lines = append(lines, knowledge.TableRow(cells))
	}
	if r.More {
		lines = append(lines, fmt.Sprintf("(These are the first %d rows; there are more.)", len(r.Rows)))
	}
	return strings.Join(lines, "\n")
}
