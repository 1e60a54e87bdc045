package table_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/extract/table"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// withoutOrigin leaves out where blocks come from, which has tests of its own.
var withoutOrigin = cmpopts.IgnoreFields(knowledge.Block{}, "Origin")

func TestRead(t *testing.T) {
	t.Parallel()
	one := func(header string, rows ...string) []knowledge.Block {
		if header != "" {
			rows = append([]string{header}, rows...)
		}
		return []knowledge.Block{{Kind: knowledge.BlockTable, Header: header, Text: strings.Join(rows, "\n")}}
	}
	const ab = "| a | b |\n| --- | --- |"
	for _, tc := range []struct {
		behaviour, in string
		comma         rune
		want          []knowledge.Block
	}{
		{"commas", "a,b\n1,2\n3,4\n", 0, one(ab, "| 1 | 2 |", "| 3 | 4 |")},
		{"semicolons with decimal commas", "name;price\ntea;1,50\ncake;2,75\n", 0, one("| name | price |\n| --- | --- |", "| tea | 1,50 |", "| cake | 2,75 |")},
		{"tabs", "a\tb\n1\t2\n", '\t', one(ab, "| 1 | 2 |")},
		{"pipes", "a|b|c\n1|2|3\n", 0, one("| a | b | c |\n| --- | --- | --- |", "| 1 | 2 | 3 |")},
		{"a pipe in a cell", "a,b\nx|y,2\n", ',', one(ab, `| x\|y | 2 |`)},
		{"Excel says the delimiter itself", "sep=;\na;b\n1;2\n", 0, one(ab, "| 1 | 2 |")},
		{"quotes, with a line end inside", "a,b\n\"x, y\",\"two\nlines\"\n", 0, one(ab, "| x, y | two lines |")},
		{"a quote in the middle of a cell", "a,b\n5\" disk,x\n", 0, one(ab, "| 5\" disk | x |")},
		{"numbers in the first row: no header", "1,2\n3,4\n", 0, one("", "| 1 | 2 |", "| 3 | 4 |")},
		{"years name columns", "region,2023,2024\nnorth,5,6\n", 0, one("| region | 2023 | 2024 |\n| --- | --- | --- |", "| north | 5 | 6 |")},
		{"years above years are data", "2019,ann\n2020,bob\n", 0, one("", "| 2019 | ann |", "| 2020 | bob |")},
		{"an empty corner", ",north,south\ntea,1,2\ncake,3,4\n", 0, one("|  | north | south |\n| --- | --- | --- |", "| tea | 1 | 2 |", "| cake | 3 | 4 |")},
		{"rows of another length", "a,b,c\n1,2,3\n4,5\n", 0, one("| a | b | c |\n| --- | --- | --- |", "| 1 | 2 | 3 |", "| 4 | 5 |")},
		{"a row with more cells than the header", "a,b\n1,2,3\n4,5\n", 0, one("| a | b |  |\n| --- | --- | --- |", "| 1 | 2 | 3 |", "| 4 | 5 |")},
		{"blank rows go", "a,b\n,\n\n1,2\n", 0, one(ab, "| 1 | 2 |")},
		{"a single column", "name\nann\nbob\n", 0, one("| name |\n| --- |", "| ann |", "| bob |")},
		{"a title before the table is its caption", "Sales,,\n,,\nitem,count,price\ntea,1,2\ncake,3,4\n", 0, append([]knowledge.Block{
			{Kind: knowledge.BlockCaption, Text: "Sales"}},
			one("| item | count | price |\n| --- | --- | --- |", "| tea | 1 | 2 |", "| cake | 3 | 4 |")...)},
		{"nothing", "", 0, nil},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, table.Read(tc.in, tc.comma), withoutOrigin); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAStrayQuoteDoesNotSwallowTheTable(t *testing.T) {
	t.Parallel()
	in := "a,b\n\"1,2\n" + strings.Repeat("3,4\n", 1000)
	rows := 0
	for _, b := range table.Read(in, 0) {
		rows += strings.Count(b.Text, "\n") + 1
	}
	if rows != 1003 {
		t.Errorf("%d rows, want 1003, with the row of dashes", rows)
	}
}

func TestLongTablesAreSeveralBlocksWithTheSameHeader(t *testing.T) {
	t.Parallel()
	var in strings.Builder
	in.WriteString("number,square\n")
	for i := range 500 {
		fmt.Fprintf(&in, "%d,%d\n", i, i*i)
	}
	blocks := table.Read(in.String(), 0)
	if len(blocks) < 10 {
		t.Errorf("%d blocks", len(blocks))
	}
	rows := 0
	for i, b := range blocks {
		if b.Header != "| number | square |\n| --- | --- |" {
			t.Errorf("block %d has header %q", i, b.Header)
		}
		if has := strings.HasPrefix(b.Text, b.Header); has != (i == 0) {
			t.Errorf("block %d begins with its header: %v", i, has)
		}
		rows += strings.Count(b.Text, "\n") + 1
	}
	if rows != 502 {
		t.Errorf("%d rows, want 502, with the row of dashes", rows)
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{"a,b\n1,2", "sep=;\na;b", "\"a\nb\",c", "\"", "\t\t\n", "a|b", "sep=\n", "1,\"2\"3\n"} {
		f.Add(seed, 0)
		f.Add(seed, int('\t'))
	}
	f.Fuzz(func(t *testing.T, in string, comma int) {
		if comma != 0 && comma != '\t' || !utf8.ValidString(in) {
			return
		}
		for i, b := range table.Read(in, rune(comma)) {
			if strings.TrimSpace(b.Text) == "" || !utf8.ValidString(b.Text) {
				t.Errorf("block %d is %q", i, b.Text)
			}
		}
	})
}

func TestOrigin(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]knowledge.Origin{
		"a,b\n1,2\n3,4\n":                             {First: 1, Last: 3, LineByLine: true},
		"a,b\n1,2\n\n3,4\n":                           {First: 1, Last: 4},
		"a,b\n1,\"two\nlines\"\n3,4\n":                {First: 1, Last: 4},
		"sep=;\na;b\n1;2\n":                           {First: 2, Last: 3, LineByLine: true},
		"\n\na\tb\n1\t2\n":                            {First: 3, Last: 4, LineByLine: true},
		"a,b\n\"1,2\n" + strings.Repeat("3,4\n", 250): {First: 1, Last: 40, LineByLine: true}, // a stray quote; the first block
	} {
		var comma rune
		if strings.Contains(in, "\t") {
			comma = '\t'
		}
		if got := table.Read(in, comma)[0].Origin; got != want {
			t.Errorf("%q: %+v, want %+v", in, got, want)
		}
	}
	blocks := table.Read("Sales,,\n,,\nitem,count,price\ntea,x,y\ncake,z,v\n", 0)
	if got := []knowledge.Origin{blocks[0].Origin, blocks[1].Origin}; got[0] != (knowledge.Origin{First: 1, Last: 1, LineByLine: true}) || got[1] != (knowledge.Origin{First: 3, Last: 5, LineByLine: true}) {
		t.Errorf("a title and a table: %+v", got)
	}
}
