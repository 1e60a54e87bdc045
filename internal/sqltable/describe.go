package sqltable

import (
	"fmt"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// maxDescribed bounds the columns that the description of a table names.
const maxDescribed = 100

// Describe returns the tables in words for the model, with the rows that they have.
func (c Catalog) Describe() Answer {
	var b strings.Builder
	for _, t := range c.Tables {
		t.describe(&b)
	}
	first := c.Tables[0]
	return Answer{Text: strings.TrimSpace(b.String()), Ordinal: first.Anchor(first.First), First: first.First, Last: first.Last}
}

func (t Table) describe(b *strings.Builder) {
	fmt.Fprintf(b, "Table %s: %d rows, %s\n", t.Name, t.Rows, t.place(t.First, t.Last))
	if t.Title != "" {
		fmt.Fprintf(b, "Above its header: %s\n", cut(t.Title))
	}
	if t.Totals != nil {
		fmt.Fprintf(b, "These values of %s seem to be totals of other rows, leave them out of sums: %s\n", RowColumn, strings.Trim(fmt.Sprint(t.Totals), "[]"))
	}
	names := []string{RowColumn}
	for i, c := range t.Columns {
		if i == maxDescribed {
			fmt.Fprintf(b, "and %d more columns\n", len(t.Columns)-maxDescribed)
			break
		}
		names = append(names, c.Name)
		fmt.Fprintf(b, "- %s\n", c.describe())
	}
	fmt.Fprintf(b, "%s\n", knowledge.TableHeader(names, len(names)))
	for _, cells := range t.Sample {
		fmt.Fprintf(b, "%s\n", knowledge.TableRow(cells[:min(len(cells), len(names))]))
	}
	b.WriteByte('\n')
}

func (c Column) describe() string {
	kind := map[string]string{Integer: "whole numbers", Decimal: "decimal numbers", Text: "text"}[c.Type]
	if c.Dates {
		kind = "dates as YYYY-MM-DD"
	}
	if c.Unit != "" {
		kind += " in " + c.Unit
	}
	if c.Others > 0 {
		kind += fmt.Sprintf(", %d cells are text", c.Others)
	}
	if c.Errors > 0 {
		kind += fmt.Sprintf(", %d cells are errors of formulas and NULL", c.Errors)
	}
	if c.Header != "" && c.Header != c.Name {
		kind += fmt.Sprintf(" (%q in the file)", c.Header)
	}
	return c.Name + ": " + kind
}

// place returns rows of the table in words.
func (t Table) place(first, last int) string {
	if t.Sheet == "" {
		return fmt.Sprintf("lines %d to %d", first, last)
	}
	return fmt.Sprintf("sheet %q, rows %d to %d", t.Sheet, first, last)
}

// Answer returns a result in words for the model, with the rows from which it was made: those
// that it names, or else all of the table.
func (c Catalog) Answer(r Result) (Answer, bool) {
	t, found := c.Find(r.Tables[0])
	if !found {
		return Answer{}, false
	}
	a := Answer{First: t.First, Last: t.Last}
	if r.First > 0 && len(r.Tables) == 1 {
		a.First, a.Last = max(r.First, t.First), min(r.Last, t.Last)
	}
	a.Ordinal = t.Anchor(a.First)
	places := []string{t.place(a.First, a.Last)}
	for _, name := range r.Tables[1:] {
		if other, found := c.Find(name); found {
			places = append(places, other.place(other.First, other.Last))
		}
	}
	a.Text = "From " + strings.Join(places, ", and ") + ":\n" + r.table()
	return a, true
}
