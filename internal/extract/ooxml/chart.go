package ooxml

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/extract/markup"
	"github.com/cairn-rag/cairn/internal/extract/office"
	"github.com/cairn-rag/cairn/internal/extract/table"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// series is one row of values of a chart. Points are by index, because a chart
// leaves out empty ones.
type series struct {
	name       string
	categories map[int]string
	values     map[int]string
	count      int
}

const (
	maxPoints = 10_000
	maxSeries = 200
)

// chart adds the chart in a part: its titles as a caption, and its data as a table.
func (p *pack) chart(part, alt string) error {
	if part == "" {
		return nil
	}
	root, err := p.tree(part)
	if root == nil || err != nil {
		return err
	}
	p.doc.Add(knowledge.BlockFigure, alt)
	p.doc.Add(knowledge.BlockCaption, titles(root))
	var all []series
	root.All("ser", func(n *markup.Node) {
		if len(all) < maxSeries {
			all = append(all, readSeries(n))
		}
	})
	if slices.ContainsFunc(all, func(s series) bool { return s.count > 0 }) {
		p.doc.Table(seriesTable(all))
	}
	for _, shapes := range p.partsOfKind(part, "chartUserShapes") {
		drawn, err := p.tree(shapes)
		if err != nil {
			return err
		}
		drawn.All("p", func(n *markup.Node) { p.doc.Add(knowledge.BlockParagraph, n.Content()) })
	}
	return p.doc.Err()
}

// titles returns the titles of a chart and its axes, one a line.
func titles(root *markup.Node) string {
	var lines []string
	root.All("title", func(n *markup.Node) {
		var b strings.Builder
		n.All("p", func(paragraph *markup.Node) {
			b.WriteString(paragraph.Content())
			b.WriteByte(' ')
		})
		if b.Len() == 0 { // from a cell
			b.WriteString(n.First("v").Content())
		}
		lines = append(lines, b.String())
	})
	return strings.Join(lines, "\n")
}

func readSeries(n *markup.Node) series {
	s := series{name: n.Child("tx").First("v").Content(), categories: map[int]string{}, values: map[int]string{}}
	read := func(into map[int]string, names ...string) {
		for _, name := range names {
			source := n.Child(name)
			format := source.First("formatCode").Content()
			source.All("pt", func(pt *markup.Node) {
				if at := office.Int(pt.Attr("idx"), -1); at >= 0 && at < maxPoints {
					into[at] = strings.TrimSpace(into[at] + " " + shown(pt.Child("v").Content(), format))
					s.count = max(s.count, at+1)
				}
			})
		}
	}
	read(s.categories, "cat", "xVal")
	read(s.values, "val", "yVal", "bubbleSize")
	return s
}

// shown returns a number nearly as the chart shows it: without the noise of its
// binary form, and a date as one.
func shown(v, format string) string {
	f, err := strconv.ParseFloat(v, 64)
	if err != nil {
		return v
	}
	if format = strings.ToLower(format); strings.Contains(format, "yy") && strings.Contains(format, "m") && f > 0 && f < 1e6 {
		return time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC).AddDate(0, 0, int(f)).Format(time.DateOnly)
	}
	return strconv.FormatFloat(f, 'g', 12, 64)
}

// seriesTable returns a table with a row for each category and a column for each
// series. Series with categories of their own have a column for these.
func seriesTable(all []series) *table.Table {
	t := &table.Table{HasHeader: true}
	var header []table.Cell
	rows := 0
	for i, s := range all {
		rows = max(rows, s.count)
		if i == 0 || !sameCategories(all[i-1], s) {
			header = append(header, table.Cell{})
		}
		header = append(header, table.Cell{Text: cmp.Or(s.name, "Series "+strconv.Itoa(i+1))})
	}
	t.Add(table.Row{Cells: header})
	for at := range rows {
		var cells []table.Cell
		for i, s := range all {
			if i == 0 || !sameCategories(all[i-1], s) {
				cells = append(cells, table.Cell{Text: s.categories[at]})
			}
			cells = append(cells, table.Cell{Text: s.values[at]})
		}
		t.Add(table.Row{Cells: cells})
	}
	return t
}

// sameCategories reports whether series b has the categories of a. One without any
// has the categories of the series before it.
func sameCategories(a, b series) bool {
	if len(b.categories) == 0 {
		return true
	}
	if len(a.categories) != len(b.categories) {
		return false
	}
	for at, c := range b.categories {
		if a.categories[at] != c {
			return false
		}
	}
	return true
}
