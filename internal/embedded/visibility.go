package embedded

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.temporal.io/server/common/config"
	"go.temporal.io/server/common/persistence"
	"go.temporal.io/server/common/persistence/serialization"
	"go.temporal.io/server/common/persistence/sql/sqlplugin"

	"github.com/cairn-rag/cairn/internal/namespace"
)

// The server writes each workflow into its visibility table twice, at the start
// and at the end. The server's schema has some sixty indexes and two full-text
// tables on it, which cost four fifths of these writes. This file reduces them
// to those that lists use: the order of all workflows, their id, type and
// status, and the attributes in Config.ListedBy. A list by another column scans
// the table.
const visibilityTable = "executions_visibility"

// listedColumns are the second columns of the indexes that stay; the first is
// the namespace. The order of all workflows is an expression, so its name is
// empty.
var listedColumns = []string{"", "workflow_id", "workflow_type_name", "status"}

// fullTextTables are searched for texts and for lists of keywords.
var fullTextTables = []string{visibilityTable + "_fts_text", visibilityTable + "_fts_keyword_list"}

// reduceIndexes removes the indexes of a visibility database that no list uses,
// and adds missing ones for the given columns. Doing it again changes nothing.
// The server must not run.
func reduceIndexes(ctx context.Context, path string, columns []string) (err error) {
	db, err := sql.Open("sqlite", "file:"+escapePath(path)+"?_txlock=immediate")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	v := visibility{ctx: ctx, tx: tx}
	v.keepIndexes(columns)
	v.narrowFullText()
	if v.err != nil {
		return v.err
	}
	return tx.Commit()
}

// visibility changes the schema within one transaction. After the first error
// it does nothing more.
type visibility struct {
	ctx context.Context
	tx  *sql.Tx
	err error
}

func (v *visibility) exec(statement string) {
	if v.err != nil {
		return
	}
	if _, err := v.tx.ExecContext(v.ctx, statement); err != nil {
		v.err = fmt.Errorf("%s: %w", statement, err)
	}
}

// texts returns the first column of a query's rows.
func (v *visibility) texts(query string, args ...any) (found []string) {
	if v.err != nil {
		return nil
	}
	rows, err := v.tx.QueryContext(v.ctx, query, args...)
	if err != nil {
		v.err = err
		return nil
	}
	defer func() { v.err = errors.Join(v.err, rows.Close()) }()
	for rows.Next() {
		var text string
		v.err = errors.Join(v.err, rows.Scan(&text))
		found = append(found, text)
	}
	v.err = errors.Join(v.err, rows.Err())
	return found
}

// keepIndexes drops all indexes but the indexes on listedColumns and columns.
func (v *visibility) keepIndexes(columns []string) {
	kept := slices.Concat(listedColumns, columns)
	const indexes = `SELECT COALESCE(i.name, '') || ' ' || m.name FROM sqlite_master m, pragma_index_info(m.name) i
		WHERE m.type = 'index' AND m.tbl_name = ? AND m.sql IS NOT NULL AND i.seqno = 1`
	var have []string
	for _, found := range v.texts(indexes, visibilityTable) {
		column, index, _ := strings.Cut(found, " ")
		if !slices.Contains(kept, column) {
			v.exec("DROP INDEX " + index)
		}
		have = append(have, column)
	}
	for _, column := range columns {
		if !slices.Contains(have, column) {
			v.exec("CREATE INDEX cairn_by_" + column + " ON " + visibilityTable +
				" (namespace_id, " + column + ", COALESCE(close_time, '9999-12-31 23:59:59+00:00') DESC, start_time DESC, run_id)")
		}
	}
}

// narrowFullText replaces the server's triggers, which write each workflow into
// both full-text tables even if it has nothing to search for, by triggers that
// write the workflows that have. Each of our workflows has build ids, and none
// is searched for by them, so their column leaves the full-text table: a search
// for build ids is refused.
func (v *visibility) narrowFullText() {
	triggers := v.texts("SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = ? AND name NOT LIKE 'cairn%'", visibilityTable)
	if len(triggers) == 0 {
		return
	}
	for _, trigger := range triggers {
		v.exec("DROP TRIGGER " + trigger)
	}
	for _, table := range fullTextTables {
		for _, definition := range v.texts("SELECT sql FROM sqlite_master WHERE name = ?", table) {
			v.exec("DROP TABLE " + table)
			v.exec(strings.Replace(definition, "BuildIds,", "", 1))
			v.exec("INSERT INTO " + table + " (" + table + ") VALUES ('rebuild')")
		}
		v.addTriggers(table, v.texts("SELECT name FROM pragma_table_info(?)", table))
	}
}

// addTriggers makes a full-text table follow the visibility table. Such a table
// holds no texts of its own, so each deletion must name those that were
// inserted.
func (v *visibility) addTriggers(table string, columns []string) {
	of := func(row string) string { return row + strings.Join(columns, ", "+row) }
	filled := func(row string) string { return "COALESCE(" + of(row) + ") IS NOT NULL" }
	names := strings.Join(columns, ", ")
	remove := "INSERT INTO " + table + " (" + table + ", rowid, " + names + ") SELECT 'delete', OLD.rowid, " + of("OLD.") + " WHERE " + filled("OLD.") + "; "
	add := "INSERT INTO " + table + " (rowid, " + names + ") SELECT NEW.rowid, " + of("NEW.") + " WHERE " + filled("NEW.") + "; "
	for _, t := range []struct{ event, when, do string }{
		{"INSERT", filled("NEW."), add},
		{"DELETE", filled("OLD."), remove},
		{"UPDATE", "(" + of("OLD.") + ") IS NOT (" + of("NEW.") + ")", remove + add},
	} {
		v.exec("CREATE TRIGGER cairn_" + strings.ToLower(t.event) + "_" + table + " AFTER " + t.event + " ON " + visibilityTable +
			" WHEN " + t.when + " BEGIN " + t.do + "END")
	}
}

// attributeColumns returns the columns in which the namespace of a history
// database keeps the given search attributes. An attribute that the namespace
// does not have yet is left out.
func attributeColumns(ctx context.Context, history *config.SQL, attributes []string) ([]string, error) {
	db, err := openPlugin(history)
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }() // the plugin keeps the connection for the server
	name := namespace.Default
	rows, err := db.SelectFromNamespace(ctx, sqlplugin.NamespaceFilter{Name: &name})
	if err != nil {
		return nil, fmt.Errorf("read namespace %s: %w", namespace.Default, err)
	}
	var columns []string
	for _, row := range rows {
		detail, err := serialization.NewSerializer().NamespaceDetailFromBlob(persistence.NewDataBlob(row.Data, row.DataEncoding))
		if err != nil {
			return nil, fmt.Errorf("decode namespace %s: %w", namespace.Default, err)
		}
		for column, attribute := range detail.GetConfig().GetCustomSearchAttributeAliases() {
			if slices.Contains(attributes, attribute) {
				columns = append(columns, column)
			}
		}
	}
	slices.Sort(columns)
	return columns, nil
}
