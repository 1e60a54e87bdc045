package sqltable_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/extract/table"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/sqltable"
)

// write writes the tables of a CSV file, and returns the path of the SQLite file.
func write(t testing.TB, name, csv string) (sqltable.Catalog, string) {
	t.Helper()
	return writeLayout(t, name, knowledge.Layout{MediaType: "text/csv", Blocks: table.Read(csv, 0)})
}

func writeLayout(t testing.TB, name string, layout knowledge.Layout) (sqltable.Catalog, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tables.db")
	catalog, err := sqltable.Write(t.Context(), path, sqltable.Input{Name: name, Layout: layout})
	if err != nil {
		t.Fatal(err)
	}
	return catalog, path
}

// query returns the rows of a result, a line each.
func query(t testing.TB, path, sql string) string {
	t.Helper()
	result, err := sqltable.Run(t.Context(), path, sql)
	if err != nil || result.Refused != "" {
		t.Fatalf("%s: %v %s", sql, err, result.Refused)
	}
	var lines []string
	for _, cells := range result.Rows {
		lines = append(lines, strings.Join(cells, ";"))
	}
	return strings.Join(lines, "\n")
}

func TestColumns(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		cells []string
		want  sqltable.Column // without its name
		value string          // of the first row
	}{
		"whole numbers":                         {[]string{"7", "-12", "1200"}, sqltable.Column{Type: sqltable.Integer}, "7"},
		"decimal numbers":                       {[]string{"7.25", "1,200.50"}, sqltable.Column{Type: sqltable.Decimal}, "7.25"},
		"German numbers":                        {[]string{"1.234,56", "7,5"}, sqltable.Column{Type: sqltable.Decimal}, "1234.56"},
		"whole numbers in German groups":        {[]string{"1.234.567", "12"}, sqltable.Column{Type: sqltable.Integer}, "1234567"},
		"an ambiguous number is English":        {[]string{"1.234", "5.678"}, sqltable.Column{Type: sqltable.Decimal}, "1.234"},
		"Swiss groups":                          {[]string{"1'234.50", "2’000.25"}, sqltable.Column{Type: sqltable.Decimal}, "1234.5"},
		"groups with spaces":                    {[]string{"1 234,50", "12 000,25"}, sqltable.Column{Type: sqltable.Decimal}, "1234.5"},
		"a currency":                            {[]string{"$1,234.50", "$2.00"}, sqltable.Column{Type: sqltable.Decimal, Unit: "$"}, "1234.5"},
		"a currency behind, in some rows":       {[]string{"12,50 €", "3,25", "1,00 €"}, sqltable.Column{Type: sqltable.Decimal, Unit: "€"}, "12.5"},
		"two currencies are no amounts":         {[]string{"$5", "€7"}, sqltable.Column{Type: sqltable.Text}, "$5"},
		"percent":                               {[]string{"12.5%", "7 %"}, sqltable.Column{Type: sqltable.Decimal, Unit: "%"}, "12.5"},
		"percent beside numbers is text":        {[]string{"12.5%", "7"}, sqltable.Column{Type: sqltable.Text}, "12.5%"},
		"brackets are a minus":                  {[]string{"(1,250.00)", "3.5"}, sqltable.Column{Type: sqltable.Decimal}, "-1250"},
		"a minus behind":                        {[]string{"1.250,00-", "3,5"}, sqltable.Column{Type: sqltable.Decimal}, "-1250"},
		"codes keep their zeros":                {[]string{"0071", "1234"}, sqltable.Column{Type: sqltable.Text}, "0071"},
		"long identifiers keep their digits":    {[]string{"12345678901234567890", "1"}, sqltable.Column{Type: sqltable.Text}, "12345678901234567890"},
		"decimals beyond a REAL stay text":      {[]string{"0.1234567890123456", "1"}, sqltable.Column{Type: sqltable.Text}, "0.1234567890123456"},
		"notations that contradict one another": {[]string{"1,234.56", "1.234,56"}, sqltable.Column{Type: sqltable.Text}, "1,234.56"},
		"missing values":                        {[]string{"7", "n/a", "-", "8"}, sqltable.Column{Type: sqltable.Integer}, "7"},
		"ISO dates":                             {[]string{"2023-01-31", "2024-02-29"}, sqltable.Column{Type: sqltable.Text, Dates: true}, "2023-01-31"},
		"German dates":                          {[]string{"31.01.2023", "1.2.2024"}, sqltable.Column{Type: sqltable.Text, Dates: true}, "2023-01-31"},
		"American dates":                        {[]string{"1/31/2023", "2/1/2024"}, sqltable.Column{Type: sqltable.Text, Dates: true}, "2023-01-31"},
		"British dates":                         {[]string{"31/1/2023", "2/1/2024"}, sqltable.Column{Type: sqltable.Text, Dates: true}, "2023-01-31"},
		"dates of either kind stay text":        {[]string{"1/2/2023", "2/1/2024"}, sqltable.Column{Type: sqltable.Text}, "1/2/2023"},
		"dates with a time":                     {[]string{"2023-01-31 08:15", "2024-02-29 23:59"}, sqltable.Column{Type: sqltable.Text, Dates: true}, "2023-01-31 08:15:00"},
		"a telephone number keeps its sign":     {[]string{"+49 171 234", "+49 171 235"}, sqltable.Column{Type: sqltable.Text}, "+49 171 234"},
		"an address of a network is no amount":  {[]string{"192.168.100.101", "192.168.100.102"}, sqltable.Column{Type: sqltable.Text}, "192.168.100.101"},
		"Indian groups":                         {[]string{"12,34,567.50", "1,000.00"}, sqltable.Column{Type: sqltable.Decimal}, "1234567.5"},
		"other currencies":                      {[]string{"₹1,234.50", "₹2"}, sqltable.Column{Type: sqltable.Decimal, Unit: "₹"}, "1234.5"},
		"a currency of letters and a sign":      {[]string{"CA$1,234.50", "CA$ 2"}, sqltable.Column{Type: sqltable.Decimal, Unit: "CA$"}, "1234.5"},
		"kroner behind":                         {[]string{"1 234,50 kr", "2,00 kr"}, sqltable.Column{Type: sqltable.Decimal, Unit: "kr"}, "1234.5"},
		"errors of formulas are no values":      {[]string{"7", "#DIV/0!", "#REF!", "8"}, sqltable.Column{Type: sqltable.Integer, Errors: 2}, "7"},
		"NA is a word among words":              {[]string{"NA", "EU", "None"}, sqltable.Column{Type: sqltable.Text}, "NA"},
		"two-digit years, American":             {[]string{"1/31/23", "2/1/24"}, sqltable.Column{Type: sqltable.Text, Dates: true}, "2023-01-31"},
		"Dutch dates":                           {[]string{"31-01-2023", "1-2-2024"}, sqltable.Column{Type: sqltable.Text, Dates: true}, "2023-01-31"},
		"Japanese dates":                        {[]string{"2023年1月31日", "2024年2月1日"}, sqltable.Column{Type: sqltable.Text, Dates: true}, "2023-01-31"},
		"dates with points, the year first":     {[]string{"2023.01.31", "2024.2.1"}, sqltable.Column{Type: sqltable.Text, Dates: true}, "2023-01-31"},
		"short months and years":                {[]string{"31-Jan-23", "1-Feb-24"}, sqltable.Column{Type: sqltable.Text, Dates: true}, "2023-01-31"},
		"German months":                         {[]string{"31. Januar 2023", "1. März 2024"}, sqltable.Column{Type: sqltable.Text, Dates: true}, "2023-01-31"},
		"words":                                 {[]string{"North", "12 pieces"}, sqltable.Column{Type: sqltable.Text}, "North"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lines := []string{"label\tsubject of it"}
			for i, c := range tc.cells {
				lines = append(lines, fmt.Sprintf("row %c\t%s", 'a'+i, c))
			}
			catalog, path := writeLayout(t, "a.tsv", knowledge.Layout{MediaType: "text/tab-separated-values", Blocks: table.Read(strings.Join(lines, "\n"), '\t')})
			tc.want.Name, tc.want.Header = "subject_of_it", "subject of it"
			if diff := cmp.Diff(tc.want, catalog.Tables[0].Columns[1]); diff != "" {
				t.Error(diff)
			}
			if got := query(t, path, "SELECT subject_of_it FROM a LIMIT 1"); got != tc.value {
				t.Errorf("the value is %q, want %q", got, tc.value)
			}
		})
	}
}

func TestAFewWordsLeaveAColumnOfNumbers(t *testing.T) {
	t.Parallel()
	var lines []string
	for range 30 {
		lines = append(lines, "North,2.25")
	}
	lines = append(lines, "South,see note")
	catalog, path := write(t, "sales.csv", "region,amount\n"+strings.Join(lines, "\n"))
	want := sqltable.Column{Name: "amount", Header: "amount", Type: sqltable.Decimal, Others: 1}
	if diff := cmp.Diff(want, catalog.Tables[0].Columns[1]); diff != "" {
		t.Error(diff)
	}
	if got := query(t, path, "SELECT sum(amount), max(_row) FROM sales"); got != "67.5;32" {
		t.Errorf("the sum is %s", got)
	}
}

func TestAFewWordsLeaveAColumnOfDates(t *testing.T) {
	t.Parallel()
	var lines []string
	for i := range 28 {
		lines = append(lines, fmt.Sprintf("%02d.02.2023,1", i+1))
	}
	catalog, path := write(t, "sales.csv", "day,amount\n"+strings.Join(lines, "\n")+"\nopen,1")
	want := sqltable.Column{Name: "day", Header: "day", Type: sqltable.Text, Dates: true, Others: 1}
	if diff := cmp.Diff(want, catalog.Tables[0].Columns[0]); diff != "" {
		t.Error(diff)
	}
	if got := query(t, path, "SELECT count(*), max(day) FROM sales WHERE day >= '2023-02-20' AND day < '2024'"); got != "9;2023-02-28" {
		t.Errorf("the count is %s", got)
	}
}

func TestTables(t *testing.T) {
	t.Parallel()
	t.Run("headers become names, and stay known", func(t *testing.T) {
		t.Parallel()
		catalog, path := write(t, "Umsätze 2023.csv", "Order;Umsatz (€);Umsatz (€)\nA;1,50;2,50\nB;2,00;3,00")
		var columns []string
		for _, c := range catalog.Tables[0].Columns {
			columns = append(columns, c.Name+"="+c.Header)
		}
		if diff := cmp.Diff([]string{"order_=Order", "umsatz=Umsatz (€)", "umsatz_2=Umsatz (€)"}, columns); diff != "" {
			t.Error(diff)
		}
		if got := query(t, path, "SELECT sum(umsatz), sum(umsatz_2) FROM umsätze_2023"); got != "3.5;5.5" {
			t.Errorf("the sums are %s", got)
		}
	})
	t.Run("a row knows its line, though lines are blank", func(t *testing.T) {
		t.Parallel()
		_, path := write(t, "a.csv", "name,count\n\nfirst,1\n\nlast,2")
		if got := query(t, path, "SELECT name, _row FROM a WHERE name = 'last'"); got != "last;5" {
			t.Errorf("the row is %s", got)
		}
	})
	t.Run("a bar in a cell stays", func(t *testing.T) {
		t.Parallel()
		_, path := write(t, "a.csv", "name,count\na|b,1\nc | d,2\n,3")
		if got := query(t, path, "SELECT name, count FROM a"); got != "a|b;1\nc | d;2\nNULL;3" {
			t.Errorf("the rows are %s", got)
		}
	})
	t.Run("totals are named", func(t *testing.T) {
		t.Parallel()
		catalog, _ := write(t, "a.csv", "region,amount\nNorth,1\nSouth,2\nTotal,3")
		if diff := cmp.Diff([]int{4}, catalog.Tables[0].Totals); diff != "" || !strings.Contains(catalog.Describe().Text, "leave them out of sums: 4") {
			t.Error(diff, catalog.Describe().Text)
		}
	})
	t.Run("a text without a table has none", func(t *testing.T) {
		t.Parallel()
		catalog, _ := writeLayout(t, "a.xlsx", knowledge.Layout{Blocks: []knowledge.Block{{Kind: knowledge.BlockParagraph, Text: "Nothing"}}})
		if len(catalog.Tables) != 0 {
			t.Errorf("%+v", catalog)
		}
	})
}

func TestSheets(t *testing.T) {
	t.Parallel()
	two := func(sheet, value string) knowledge.Block {
		header := knowledge.TableHeader([]string{"region", "amount"}, 2)
		return knowledge.Block{
			Kind: knowledge.BlockTable, Header: header, Text: header + "\n" + knowledge.TableRow([]string{"North", value}),
			Sheet: knowledge.Sheet{Name: sheet, Columns: 2, Rows: []int{3, 3, 4}, Exact: []knowledge.Exact{{Line: 2, Column: 1, Value: "1234.56"}}},
		}
	}
	layout := knowledge.Layout{MediaType: sqltable.MediaTypes()[2], Blocks: []knowledge.Block{two("Sales", "1,235"), two("Costs", "1,235"), two("Costs", "about 3")}}
	catalog, path := writeLayout(t, "book.xlsx", layout)
	var names []string
	for _, table := range catalog.Tables {
		names = append(names, table.Name)
	}
	if diff := cmp.Diff([]string{"sales", "costs", "costs_2"}, names); diff != "" {
		t.Fatal(diff)
	}
	got := query(t, path, "SELECT s.amount, c.amount, o.amount, s._row FROM sales AS s, costs AS c, costs_2 AS o")
	if got != "1234.56;1234.56;about 3;4" {
		t.Errorf("the row is %s", got)
	}
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	catalog, path := write(t, "sales.csv", "region,amount\nNorth,1.5\nSouth,2\nNorth,4")
	for sql, want := range map[string]string{
		"SELECT region, sum(amount) AS s FROM sales GROUP BY region":                                    "From lines 2 to 4:\n| region | s |\n| --- | --- |\n| North | 5.5 |\n| South | 2 |",
		"SELECT amount, _row FROM sales WHERE region = 'South'":                                         "From lines 3 to 3:\n| amount | _row |\n| --- | --- |\n| 2 | 3 |",
		"SELECT sum(amount), min(_row) AS first_row, max(_row) AS last_row FROM sales WHERE amount < 3": "From lines 2 to 3:\n| sum(amount) | first_row | last_row |\n| --- | --- | --- |\n| 3.5 | 2 | 3 |",
		"SELECT amount FROM sales WHERE region = 'East'":                                                "From lines 2 to 4:\nThe result has no rows.",
	} {
		result, err := sqltable.Run(t.Context(), path, sql)
		if err != nil || result.Refused != "" {
			t.Fatal(sql, err, result.Refused)
		}
		answer, _ := catalog.Answer(result)
		if diff := cmp.Diff(want, answer.Text); diff != "" {
			t.Error(sql, diff)
		}
	}
}

func TestDescription(t *testing.T) {
	t.Parallel()
	catalog, _ := write(t, "sales.csv", "Sale date,Amount (€)\n31.01.2023,\"1.234,50\"\n01.02.2023,2\n02.02.2023,3\n03.02.2023,4")
	want := `Table sales: 4 rows, lines 2 to 5
- sale_date: dates as YYYY-MM-DD ("Sale date" in the file)
- amount: decimal numbers ("Amount (€)" in the file)
| _row | sale_date | amount |
| --- | --- | --- |
| 2 | 2023-01-31 | 1234.5 |
| 3 | 2023-02-01 | 2 |
| 4 | 2023-02-02 | 3 |`
	if diff := cmp.Diff(want, catalog.Describe().Text); diff != "" {
		t.Error(diff)
	}
}
