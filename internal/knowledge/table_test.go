package knowledge_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

func TestTableRow(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		behaviour string
		cells     []string
		want      string
	}{
		{"cells stand between bars", []string{"tea", "2"}, "| tea | 2 |"},
		{"an empty cell keeps its place", []string{"", "2", "", "3"}, "|  | 2 |  | 3 |"},
		{"empty cells at the end are left out", []string{"tea", "", ""}, "| tea |"},
		{"a bar in a cell is escaped", []string{"a|b", "|"}, `| a\|b | \| |`},
		{"a row of empty cells is no row", []string{"", ""}, ""},
		{"no cells are no row", nil, ""},
	} {
		if got := knowledge.TableRow(tc.cells); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.behaviour, got, tc.want)
		}
	}
}

func TestTableHeader(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		names   []string
		columns int
		want    string
	}{
		{[]string{"name", "price"}, 2, "| name | price |\n| --- | --- |"},
		{[]string{"name"}, 1, "| name |\n| --- |"},
		{[]string{"", "north", ""}, 3, "|  | north |  |\n| --- | --- | --- |"},
		{[]string{"a", "b"}, 1, "| a | b |\n| --- | --- |"},
		{[]string{"", ""}, 2, ""},
	} {
		if got := knowledge.TableHeader(tc.names, tc.columns); got != tc.want {
			t.Errorf("%q in %d columns: %q, want %q", tc.names, tc.columns, got, tc.want)
		}
	}
}

func TestHeaderWithinEndsAtACell(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		header string
		most   int
		want   string
	}{
		{"name | price", 12, "name | price"},
		{"name | price", 11, "name"},
		{"name | price", 4, "name"},
		{"name | price", 3, ""},
		{"größe | preis", 5, "größe"},
		{"größe | preis | ort", 13, "größe | preis"},
		{"one cell", 3, ""},
		{"", 0, ""},
		{"| name | price |\n| --- | --- |", 32, "| name | price |\n| --- | --- |"},
		{"| name | price |\n| --- | --- |", 29, "| name |\n| --- |"},
		{"| name | price |\n| --- | --- |", 16, "| name |\n| --- |"},
		{"| name | price |\n| --- | --- |", 15, ""},
		{"|  | größe |\n| --- | --- |", 20, "|  |\n| --- |"},
	} {
		if got := knowledge.HeaderWithin(tc.header, tc.most); got != tc.want {
			t.Errorf("%q within %d is %q, want %q", tc.header, tc.most, got, tc.want)
		}
	}
}

func TestHasHeader(t *testing.T) {
	t.Parallel()
	text := knowledge.TableHeader([]string{"", "north", "south"}, 3) + "\n| tea | 1 | 2 |"
	header, _, _ := strings.Cut(text, "\n| tea")
	for most := range 60 {
		if within := knowledge.HeaderWithin(header, most); !knowledge.HasHeader(text, within) {
			t.Errorf("%q is not seen at the start of %q", within, text)
		}
	}
	if knowledge.HasHeader("| tea | 1 | 2 |", header) {
		t.Error("a row is taken for the header")
	}
}

func TestHeaderIn(t *testing.T) {
	t.Parallel()
	header := knowledge.TableHeader([]string{"", "a|b"}, 3)
	for name, tc := range map[string]struct{ text, want string }{
		"at the beginning":              {header + "\n| tea | 1 |", header},
		"below a caption":               {"Prices in euros\n\n" + header + "\n| tea | 1 |", header},
		"alone":                         {header, header},
		"of the first of two tables":    {header + "\n| tea |\n\n| x |\n| --- |\n| y |", header},
		"below a row that only dashes":  {"- x\n| ---\n\n" + header, header},
		"not of rows without a header":  {"| tea | 1 |\n| rum | 2 |", ""},
		"not of a cell of dashes":       {"| tea | 1 |\n| --- | none |", ""},
		"not of a text without a table": {"tea\n---\nrum", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := knowledge.HeaderIn(tc.text); got != tc.want {
				t.Errorf("HeaderIn(%q) = %q, want %q", tc.text, got, tc.want)
			}
		})
	}
}
