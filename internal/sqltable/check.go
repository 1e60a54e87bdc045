package sqltable

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
)

// refused is a query that is not run. It is shown to the model.
type refused struct{ reason string }

// Error implements error.
func (r refused) Error() string { return r.reason }

// checkStatement refuses what is not one SELECT. Comments and several statements are refused
// before SQLite reads them: some PRAGMAs have their effect while they are compiled.
func checkStatement(query string) error {
	words, err := outsideQuotes(query)
	if err != nil {
		return err
	}
	words = strings.TrimRight(words, "; \t\r\n")
	switch first, _, _ := strings.Cut(strings.ToLower(strings.Join(strings.Fields(strings.ReplaceAll(words, "(", " ( ")), " ")), " "); {
	case strings.Contains(words, ";"):
		return refused{"only one statement is run"}
	case first != "select" && first != "with":
		return refused{"only a SELECT is run"}
	}
	return nil
}

// outsideQuotes returns a query with a space in place of what stands in quotes.
func outsideQuotes(query string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(query); i++ {
		end := query[i]
		switch {
		case query[i] == 0:
			return "", refused{"the query has a character that is no text"}
		case strings.HasPrefix(query[i:], "--"), strings.HasPrefix(query[i:], "/*"):
			return "", refused{"comments are not read: leave them out"}
		case end == '[':
			end = ']'
		case end != '\'' && end != '"' && end != '`':
			b.WriteByte(query[i])
			continue
		}
		length := strings.IndexByte(query[i+1:], end)
		if length < 0 {
			return "", refused{"a quote is not closed"}
		}
		i += length + 1
		b.WriteByte(' ')
	}
	return b.String(), nil
}

// functions are those that a query may call. None has an effect, or reads anything but its
// arguments.
const functions = `abs avg ceil ceiling char coalesce concat concat_ws count cume_dist date datetime dense_rank exp first_value floor format glob group_concat
 hex ifnull iif instr julianday lag last_value lead length like ln log log10 log2 lower ltrim max median min mod nth_value ntile nullif percent_rank
 percentile percentile_cont percentile_disc pow power printf quote rank replace round row_number rtrim sign sqrt strftime string_agg substr substring
 sum time timediff total trim trunc typeof unicode unixepoch upper`

// refusedCodes are instructions that write, or that reach something beside the tables.
var refusedCodes = []string{
	"OpenWrite", "Insert", "Delete", "IdxDelete", "Clear", "Destroy", "CreateBtree", "ParseSchema", "DropTable", "DropIndex", "DropTrigger", "SetCookie",
	"VBegin", "VCreate", "VDestroy", "VOpen", "VFilter", "VUpdate", "VRename", "Vacuum", "IncrVacuum", "JournalMode", "Checkpoint", "Pagecount", "MaxPgcnt", "Savepoint", "SqlExec",
}

// check has SQLite compile a query, and refuses it if it does anything but read tables and call
// functions. It returns the names of the tables that the query reads.
func check(ctx context.Context, conn *sql.Conn, query string) (tables []string, err error) {
	if err := checkStatement(query); err != nil {
		return nil, err
	}
	roots, err := rootPages(ctx, conn)
	if err != nil {
		return nil, err
	}
	steps, err := conn.QueryContext(ctx, "EXPLAIN "+query)
	if err != nil {
		return nil, refused{err.Error()}
	}
	defer steps.Close()
	ephemeral := map[int64]bool{} // cursors of tables that the query itself makes
	for steps.Next() {
		var at, p1, p2, p3, p5 int64
		var code string
		var p4, comment sql.NullString
		if err := steps.Scan(&at, &code, &p1, &p2, &p3, &p4, &p5, &comment); err != nil {
			return nil, fmt.Errorf("read how a query is run: %w", err)
		}
		table, isTable := roots[p2]
		switch {
		case code == "OpenEphemeral" || code == "OpenDup" || code == "OpenAutoindex" || code == "OpenPseudo" || code == "SorterOpen":
			ephemeral[p1] = true
		case (code == "Insert" || code == "Delete" || code == "IdxDelete") && ephemeral[p1]:
		case code == "OpenRead" && (p3 != 0 || !isTable):
			return nil, refused{"only the tables of the document can be read"}
		case code == "OpenRead":
			if !slices.Contains(tables, table) {
				tables = append(tables, table)
			}
		case slices.Contains(refusedCodes, code), code == "Transaction" && (p1 != 0 || p2 != 0):
			return nil, refused{"only a SELECT from the tables of the document is run"}
		case strings.HasPrefix(p4.String, "{") || !isFunction(code):
		default:
			if name, _, _ := strings.Cut(p4.String, "("); !slices.Contains(strings.Fields(functions), strings.ToLower(name)) {
				return nil, refused{"the function " + name + " cannot be called here"}
			}
		}
	}
	if err := steps.Err(); err != nil {
		return nil, refused{err.Error()}
	}
	if len(tables) == 0 {
		return nil, refused{"the query reads no table of the document"}
	}
	return tables, nil
}

// isFunction reports whether an instruction calls the function that it names.
func isFunction(code string) bool {
	return code == "Function" || code == "PureFunc" || strings.HasPrefix(code, "Agg")
}

// rootPages returns the names of the tables by their first page.
func rootPages(ctx context.Context, conn *sql.Conn) (map[int64]string, error) {
	rows, err := conn.QueryContext(ctx, "SELECT rootpage, name FROM sqlite_schema WHERE type = 'table'")
	if err != nil {
		return nil, fmt.Errorf("read the tables: %w", err)
	}
	defer rows.Close()
	roots := map[int64]string{}
	for rows.Next() {
		var page int64
		var name string
		if err := rows.Scan(&page, &name); err != nil {
			return nil, fmt.Errorf("read the tables: %w", err)
		}
		roots[page] = name
	}
	return roots, rows.Err()
}
