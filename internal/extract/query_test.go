package extract_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/extract/table"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/sqltable"
)

func TestQuery(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "tables.db")
	layout := knowledge.Layout{MediaType: extract.TypeCSV, Blocks: table.Read("region,amount\nNorth,1.5\nSouth,2\nNorth,4", ',')}
	if _, err := sqltable.Write(t.Context(), path, sqltable.Input{Name: "sales.csv", Layout: layout}); err != nil {
		t.Fatal(err)
	}
	pool, _ := newPool(t, extract.PoolConfig{Size: 1})
	ask := func(sql string) sqltable.Result {
		t.Helper()
		result, err := pool.Query(t.Context(), path, sql)
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
	if got := ask("SELECT sum(amount) FROM sales"); len(got.Rows) != 1 || got.Rows[0][0] != "7.5" {
		t.Errorf("the result is %+v", got)
	}
	if got := ask("DROP TABLE sales"); got.Refused == "" {
		t.Errorf("the result is %+v", got)
	}
	// Each row of the join is held for the sort, which takes more memory than a query may have.
	huge := "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, printf('%900000d', i) AS t FROM n, sales ORDER BY t"
	if got := ask(huge); !strings.Contains(got.Refused, "memory") && !strings.Contains(got.Refused, "longer") {
		t.Errorf("the result is %+v", got)
	}
	if got := ask("SELECT count(*) FROM sales"); len(got.Rows) != 1 || got.Rows[0][0] != "3" {
		t.Errorf("afterwards the result is %+v", got)
	}
}

// BenchmarkQuery sums 100,000 rows in a child, with the copy of the file that a child gets.
func BenchmarkQuery(b *testing.B) {
	var csv strings.Builder
	csv.WriteString("date,region,amount\n")
	for i := range 100_000 {
		fmt.Fprintf(&csv, "%d-%02d-%02d,Region %d,%d.%02d\n", 2021+i%4, 1+i%12, 1+i%28, i%7, i*7919%100_000, i%100)
	}
	path := filepath.Join(b.TempDir(), "tables.db")
	layout := knowledge.Layout{MediaType: extract.TypeCSV, Blocks: table.Read(csv.String(), ',')}
	if _, err := sqltable.Write(b.Context(), path, sqltable.Input{Name: "sales.csv", Layout: layout}); err != nil {
		b.Fatal(err)
	}
	pool, _ := newPool(b, extract.PoolConfig{Size: 1})
	for b.Loop() {
		result, err := pool.Query(b.Context(), path, "SELECT region, sum(amount) FROM sales WHERE date LIKE '2023%' GROUP BY region")
		if err != nil || len(result.Rows) != 7 {
			b.Fatal(err, result)
		}
	}
}
