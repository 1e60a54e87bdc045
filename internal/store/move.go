package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Table is a table of the database, as an export of the whole instance names it. Both
// databases have the same tables with the same columns.
type Table struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"` // ascending
}

// stays names the tables that belong to one database and not to the instance: the
// versions of the migrations, the turns of writers, counters of the present minute, the
// sessions and sign-ins of browsers, and the keys of what is encrypted: an export is not.
var stays = []string{"goose_db_version", "write_turns", "rate_limits", "request_windows", "sessions", "sign_ins", "data_keys", "reseals"}

// The statements that describe the tables.
const (
	sqliteColumns = `SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY m.name, c.name`
	sqliteBooleans   = `SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type = 'table' AND c.type = 'BOOLEAN'`
	sqliteReferences = `SELECT m.name, f."table" FROM sqlite_schema m, pragma_foreign_key_list(m.name) f WHERE m.type = 'table'`

	postgresColumns = `SELECT c.table_name::text, c.column_name::text FROM information_schema.columns c
		JOIN information_schema.tables t ON t.table_schema = c.table_schema AND t.table_name = c.table_name AND t.table_type = 'BASE TABLE'
		WHERE c.table_schema = current_schema() ORDER BY c.table_name::text COLLATE "C", c.column_name::text COLLATE "C"`
	postgresReferences = `SELECT a.relname::text, b.relname::text FROM pg_constraint f JOIN pg_class a ON a.oid = f.conrelid JOIN pg_class b ON b.oid = f.confrelid
		WHERE f.contype = 'f' AND f.connamespace = current_schema()::regnamespace`
	postgresSequences = `SELECT table_name::text, column_name::text FROM information_schema.columns WHERE table_schema = current_schema() AND is_identity = 'YES'`
)

// Move is a transaction that reads or writes all rows of an instance.
type Move struct {
	tx       bun.Tx
	postgres bool
	tables   []Table
	booleans map[[2]string]bool // tables and columns whose integers are booleans
}

// ReadAll calls read with the rows as of one moment. Writers are not held up.
func (s *database) ReadAll(ctx context.Context, read func(*Move) error) error {
	return s.move(ctx, s.reader, &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelRepeatableRead}, "read all rows", read)
}

// WriteAll calls write, and commits what it has inserted if it returns nil. The tables are
// empty before: others are CodeConflict.
func (s *database) WriteAll(ctx context.Context, write func(*Move) error) error {
	return s.move(ctx, s.writer, nil, "write all rows", func(m *Move) error {
		for _, t := range m.tables {
			if n, err := m.count(ctx, t); err != nil {
				return err
			} else if n > 0 {
				return knowledge.Errorf(knowledge.CodeConflict, "the database is not empty: its table %s has %d rows; name a new database (and run neither cairn up nor cairn migrate on it before)", t.Name, n)
			}
		}
		if err := write(m); err != nil {
			return err
		}
		return m.follow(ctx)
	})
}

func (s *database) move(ctx context.Context, db *pool, options *sql.TxOptions, doing string, work func(*Move) error) error {
	m := &Move{postgres: db.twin != nil}
	if !m.postgres {
		options = nil // its transactions are like that, and the driver knows no options
	}
	err := db.RunInTx(ctx, options, func(ctx context.Context, tx bun.Tx) error {
		m.tx = tx
		if m.postgres { // it lasts as long as the instance is large
			for _, limit := range []string{"statement_timeout", "idle_in_transaction_session_timeout"} {
				if _, err := tx.Tx.ExecContext(ctx, "SET LOCAL "+limit+" = 0"); err != nil {
					return err
				}
			}
		}
		var err error
		if m.tables, err = m.describe(ctx); err != nil {
			return err
		}
		return work(m)
	})
	if err != nil {
		return fmt.Errorf("%s: %w", doing, failure(err))
	}
	return nil
}

// Tables returns the tables in such an order that each row's references are before it.
func (m *Move) Tables() []Table { return m.tables }

// pairs returns the rows of a query of two texts.
func (m *Move) pairs(ctx context.Context, query string) (list [][2]string, err error) {
	rows, err := m.tx.Tx.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var p [2]string
		if err := rows.Scan(&p[0], &p[1]); err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, rows.Err()
}

func (m *Move) describe(ctx context.Context) ([]Table, error) {
	columnsOf, referencesOf := sqliteColumns, sqliteReferences
	if m.postgres {
		columnsOf, referencesOf = postgresColumns, postgresReferences
	}
	columns, err := m.pairs(ctx, columnsOf)
	if err != nil {
		return nil, err
	}
	references, err := m.pairs(ctx, referencesOf)
	if err != nil {
		return nil, err
	}
	if !m.postgres { // which has booleans of its own
		if err := m.describeBooleans(ctx); err != nil {
			return nil, err
		}
	}
	var left []Table
	for _, c := range columns {
		if slices.Contains(stays, c[0]) {
			continue
		}
		if n := len(left); n == 0 || left[n-1].Name != c[0] {
			left = append(left, Table{Name: c[0]})
		}
		last := &left[len(left)-1]
		last.Columns = append(last.Columns, c[1])
	}
	return byReference(left, references)
}

func (m *Move) describeBooleans(ctx context.Context) error {
	list, err := m.pairs(ctx, sqliteBooleans)
	m.booleans = map[[2]string]bool{}
	for _, column := range list {
		m.booleans[column] = true
	}
	return err
}

// byReference returns tables so that each comes after those to which it refers.
func byReference(left []Table, references [][2]string) (ordered []Table, err error) {
	for len(left) > 0 {
		waits := func(t Table) bool {
			return slices.ContainsFunc(references, func(r [2]string) bool {
				return r[0] == t.Name && r[1] != t.Name && slices.ContainsFunc(left, func(o Table) bool { return o.Name == r[1] })
			})
		}
		i := slices.IndexFunc(left, func(t Table) bool { return !waits(t) })
		if i < 0 {
			return nil, fmt.Errorf("the tables refer to each other in a circle: %v", left)
		}
		ordered = append(ordered, left[i])
		left = slices.Delete(left, i, i+1)
	}
	return ordered, nil
}

func (m *Move) count(ctx context.Context, t Table) (n int64, err error) {
	err = m.tx.Tx.QueryRowContext(ctx, "SELECT count(*) FROM "+t.Name).Scan(&n)
	return n, err
}

// Rows calls each with every row of a table, its values in the order of t.Columns: string,
// int64, float64, bool, []byte or nil. The slice is used again.
func (m *Move) Rows(ctx context.Context, t Table, each func(values []any) error) error {
	rows, err := m.tx.Tx.QueryContext(ctx, `SELECT "`+strings.Join(t.Columns, `", "`)+`" FROM `+t.Name)
	if err != nil {
		return err
	}
	defer rows.Close()
	values, targets := make([]any, len(t.Columns)), make([]any, len(t.Columns))
	for i := range values {
		targets[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		for i, column := range t.Columns {
			if n, ok := values[i].(int64); ok && m.booleans[[2]string{t.Name, column}] {
				values[i] = n != 0
			}
		}
		if err := each(values); err != nil {
			return err
		}
	}
	return rows.Err()
}

// Insert adds a row to a table, with the columns that Tables names.
func (m *Move) Insert(ctx context.Context, t Table, values []any) error {
	known := slices.ContainsFunc(m.tables, func(o Table) bool { return o.Name == t.Name && slices.Equal(o.Columns, t.Columns) })
	if !known || len(values) != len(t.Columns) {
		return knowledge.Errorf(knowledge.CodeConflict, "the export has a table %s that this version of cairn does not know with these columns: export and import with the same version", t.Name)
	}
	marks := make([]string, len(values))
	for i := range marks {
		marks[i] = "?"
		if m.postgres {
			marks[i] = fmt.Sprintf("$%d", i+1)
		}
	}
	_, err := m.tx.Tx.ExecContext(ctx, `INSERT INTO `+t.Name+` ("`+strings.Join(t.Columns, `", "`)+`") VALUES (`+strings.Join(marks, ", ")+`)`, values...)
	return err
}

// follow lets the numbers that PostgreSQL assigns continue after those that were inserted.
func (m *Move) follow(ctx context.Context) error {
	if !m.postgres {
		return nil
	}
	columns, err := m.pairs(ctx, postgresSequences)
	if err != nil {
		return err
	}
	for _, c := range columns {
		statement := fmt.Sprintf(`SELECT setval(pg_get_serial_sequence('%[1]s', '%[2]s'), max(%[2]s)) FROM %[1]s HAVING max(%[2]s) IS NOT NULL`, c[0], c[1])
		if _, err := m.tx.Tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

// SchemaVersion returns the number of the newest migration of this program.
func SchemaVersion() (int64, error) {
	files, err := sqliteMigrations.ReadDir("migrations/sqlite")
	if err != nil || len(files) == 0 {
		return 0, fmt.Errorf("list the migrations: %w", err)
	}
	var n int64
	_, err = fmt.Sscanf(files[len(files)-1].Name(), "%d_", &n)
	return n, err
}

// Originals returns the keys of the originals of up to n random published documents.
func (m *Move) Originals(ctx context.Context, n int) (keys []string, err error) {
	pairs, err := m.pairs(ctx, fmt.Sprintf(`SELECT v.source_key, v.document_id FROM document_versions v JOIN documents d ON d.id = v.document_id AND d.published_version = v.version
		WHERE v.source_key <> '' ORDER BY random() LIMIT %d`, n))
	for _, p := range pairs {
		keys = append(keys, p[0])
	}
	return keys, err
}
