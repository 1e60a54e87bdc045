package sqltable_test

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/sqltable"
)

// hostile are queries that must not be run.
func hostile(secret string) []string {
	return []string{
		"INSERT INTO sales VALUES (9, 'East', 1)", "UPDATE sales SET amount = 0", "DELETE FROM sales", "REPLACE INTO sales VALUES (9, 'East', 1)",
		"DROP TABLE sales", "CREATE TABLE x (a)", "CREATE TEMP TABLE x AS SELECT * FROM sales", "CREATE VIEW x AS SELECT 1", "CREATE TRIGGER x AFTER INSERT ON sales BEGIN SELECT 1; END",
		"ALTER TABLE sales RENAME TO x", "CREATE INDEX x ON sales (amount)", "CREATE VIRTUAL TABLE x USING fts5(a)", "REINDEX", "ANALYZE", "VACUUM",
		"VACUUM INTO '" + secret + ".copy'", "ATTACH '" + secret + "' AS other", "ATTACH ':memory:' AS other", "DETACH main",
		"PRAGMA query_only = OFF", "PRAGMA database_list", "PRAGMA writable_schema = ON", "PRAGMA hard_heap_limit = 0", "PRAGMA temp_store_directory = '/'", "PRAGMA table_info(sales)",
		"BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT x", "RELEASE x", "EXPLAIN SELECT * FROM sales", "EXPLAIN QUERY PLAN SELECT * FROM sales",
		"SELECT 1; DELETE FROM sales", "SELECT * FROM sales; PRAGMA query_only = OFF", "SELECT * FROM sales;; DROP TABLE sales",
		"WITH x AS (SELECT 1) DELETE FROM sales", "WITH x AS (SELECT 1) INSERT INTO sales SELECT 9, 'East', 1", "WITH x AS (SELECT 1) UPDATE sales SET amount = 0",
		"SELECT * FROM sqlite_schema", "SELECT sql FROM sqlite_master, sales", `SELECT * FROM "sqlite_master"`, "SELECT * FROM temp.sqlite_schema", "SELECT * FROM [sqlite_master]",
		"SELECT * FROM pragma_database_list", "SELECT * FROM pragma_table_info('sales'), sales", "SELECT * FROM sales, pragma_function_list", "SELECT * FROM dbstat",
		"SELECT * FROM json_each('[1,2]'), sales", "SELECT * FROM sales WHERE amount IN (SELECT value FROM json_tree('[1]'))", "SELECT * FROM generate_series(1, 10)",
		"SELECT load_extension('" + secret + "') FROM sales", "SELECT readfile('" + secret + "') FROM sales", "SELECT writefile('" + secret + "', 'x') FROM sales", "SELECT edit('x') FROM sales",
		"SELECT randomblob(1000000000) FROM sales", "SELECT zeroblob(1000000000) FROM sales", "SELECT sqlite_version() FROM sales", "SELECT fts3_tokenizer('x') FROM sales", "SELECT sqlite_compileoption_get(1) FROM sales",
		"SELECT amount FROM sales ORDER BY load_extension('x')", "SELECT sum(load_extension('x')) FROM sales", "SELECT amount FROM sales GROUP BY region HAVING load_extension('x')",
		"SELECT 1", "VALUES (1)", "SELECT /* comment */ 1 FROM sales", "SELECT 1 FROM sales -- DELETE", "SELECT 'open FROM sales", "SELECT \x00 FROM sales", "",
		"SELECT 1" + strings.Repeat(" + 1", 300) + " FROM sales", "SELECT '" + strings.Repeat("x", sqltable.MaxQuery) + "' FROM sales",
		"SELECT missing FROM sales", "SELECT * FROM missing", "SELEC * FROM sales", "SELECT format('%1000000000d', 1) FROM sales", "SELECT replace(hex(format('%500000d', 1)), '2', 'xxxxxxxx') FROM sales",
	}
}

func TestHostileQueries(t *testing.T) {
	t.Parallel()
	_, path := write(t, "sales.csv", "region,amount\nNorth,1.5\nSouth,2\nNorth,4")
	secret := filepath.Join(t.TempDir(), "secret.db")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	before := digest(t, path)
	for _, sql := range hostile(secret) {
		result, err := sqltable.Run(t.Context(), path, sql)
		if err != nil || result.Refused == "" || result.Rows != nil {
			t.Errorf("%.80q was run: %v %+v", sql, err, result)
		}
	}
	if digest(t, path) != before {
		t.Error("the tables have changed")
	}
	if entries, err := os.ReadDir(filepath.Dir(secret)); err != nil || len(entries) != 1 {
		t.Errorf("files beside the secret: %v %v", entries, err)
	}
	if got := query(t, path, "SELECT count(*) FROM sales"); got != "3" {
		t.Errorf("there are %s rows", got)
	}
}

func digest(t *testing.T, path string) [32]byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return sha256.Sum256(data)
}

// TestUsefulQueries is the control of TestHostileQueries: what models write is run.
func TestUsefulQueries(t *testing.T) {
	t.Parallel()
	_, path := write(t, "sales.csv", "region,amount,day\nNorth,1.5,2023-01-02\nSouth,2,2023-02-03\nNorth,4,2024-01-02")
	for sql, want := range map[string]string{
		"SELECT region, sum(amount) FROM sales WHERE day LIKE '2023%' GROUP BY region ORDER BY 2 DESC;":                                "South;2\nNorth;1.5",
		"select strftime('%Y', day) as year, avg(amount), count(distinct region) from sales group by year":                             "2023;1.75;2\n2024;4;1",
		"WITH big AS (SELECT * FROM sales WHERE amount > 1.9) SELECT count(*) FROM big":                                                "2",
		"SELECT region, amount, rank() OVER (ORDER BY amount DESC) FROM sales ORDER BY amount":                                         "North;1.5;3\nSouth;2;2\nNorth;4;1",
		"SELECT region, sum(amount) OVER (PARTITION BY region ORDER BY day) FROM sales ORDER BY day":                                   "North;1.5\nSouth;2\nNorth;5.5",
		"SELECT a.region FROM sales AS a JOIN sales AS b ON a.region = b.region AND a.day < b.day":                                     "North",
		"SELECT DISTINCT region FROM sales WHERE region NOT IN (SELECT region FROM sales WHERE amount > 3)":                            "South",
		"SELECT region FROM sales UNION SELECT 'update; delete' FROM sales ORDER BY 1":                                                 "North\nSouth\nupdate; delete",
		"SELECT CASE WHEN amount > 1.9 THEN 'big' ELSE 'small' END AS size, round(sum(amount), 1) FROM sales GROUP BY size":            "big;6\nsmall;1.5",
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3) SELECT i, (SELECT max(amount) FROM sales) FROM n": "1;4\n2;4\n3;4",
		"SELECT \"region\" FROM (SELECT region, amount FROM sales ORDER BY amount DESC LIMIT 1)":                                       "North",
		"SELECT group_concat(region, '/') FROM sales":                                                                                  "North/South/North",
	} {
		if got := query(t, path, sql); got != want {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
}

func TestEndlessQueryIsStopped(t *testing.T) {
	t.Parallel()
	_, path := write(t, "sales.csv", "region,amount\nNorth,1.5\nSouth,2")
	began := time.Now()
	result, err := sqltable.Run(t.Context(), path, "WITH RECURSIVE n(i) AS (SELECT amount FROM sales UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n")
	if err != nil || !strings.Contains(result.Refused, "longer than") {
		t.Errorf("%v %+v", err, result)
	}
	if took := time.Since(began); took > 4*sqltable.Time {
		t.Errorf("it took %s", took)
	}
}

func TestLongResultsAreCut(t *testing.T) {
	t.Parallel()
	_, path := write(t, "sales.csv", "region,amount\n"+strings.Repeat("North,1.5\n", sqltable.MaxRows+1))
	result, err := sqltable.Run(t.Context(), path, "SELECT * FROM sales")
	if err != nil || len(result.Rows) != sqltable.MaxRows || !result.More {
		t.Errorf("%v: %d rows, more %t", err, len(result.Rows), result.More)
	}
}
