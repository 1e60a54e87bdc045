package asciidoc

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/cairn-rag/cairn/internal/extract/table"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	maxColumns = 1000
	maxSpan    = 1000
	maxCells   = 1 << 20
)

var (
	cellSpec = regexp.MustCompile(`(?:^|\s)(?:(\d*)(?:\.(\d+))?([*+]))?[<^>]?(?:\.[<^>])?[adehlmsv]?$`)
	columns  = regexp.MustCompile(`cols="?([^"\]]*)"?`)
	repeated = regexp.MustCompile(`^(\d+)\*`)
)

// cell is a cell of a table, before its row is known.
type cell struct {
	text          string
	rows, columns int
}

// table reads a table between two lines such as |===.
func (r *reader) table() {
	line, first, style := r.lines[r.at], r.at, r.style
	r.style = ""
	r.endList()
	lines := r.until(line)
	separator := line[:1]
	if strings.Contains(style, "format=csv") || strings.Contains(style, `format="csv"`) {
		separator = ","
	}
	if separator == "," || separator == ":" {
		for _, b := range table.Read(strings.Join(lines, "\n"), rune(separator[0])) {
			b.Origin = knowledge.Origin{}
			r.add(b, first)
		}
		return
	}
	hasHeader := strings.Contains(style, "header") || len(lines) > 1 && lines[0] != "" && lines[1] == ""
	var cells []cell
	count := columnsOf(style)
	for _, line := range lines {
		if isComment(line) {
			continue
		}
		before := len(cells)
		cells = r.cells(cells, line, separator)
		if count == 0 && len(cells) > before {
			for _, c := range cells {
				count += c.columns
			}
		}
	}
	t := table.Table{HasHeader: hasHeader && !strings.Contains(style, "!header")}
	for _, row := range rowsOf(cells, min(max(count, 1), maxColumns)) {
		for i := range row {
			row[i].Text = r.inline(strings.TrimSpace(row[i].Text))
		}
		t.Add(table.Row{Cells: row})
	}
	for _, b := range t.Blocks() {
		r.add(b, first)
	}
}

// cells adds the cells of a line. Text before the first of them continues the last one.
func (r *reader) cells(cells []cell, line, separator string) []cell {
	parts := strings.Split(strings.ReplaceAll(line, `\`+separator, "\x00"), separator)
	for i, part := range parts {
		spec := []string{"", "", "", ""}
		text := part
		if i < len(parts)-1 {
			// A letter between two marks is a text: |a|b.
			if at := cellSpec.FindStringSubmatchIndex(part); at != nil && (i == 0 || at[0] > 0 || part != strings.TrimLeft(part, " \t")) {
				spec, text = cellSpec.FindStringSubmatch(part), part[:at[0]]
			}
		}
		if text = strings.ReplaceAll(text, "\x00", separator); len(cells) > 0 && text != "" {
			last := &cells[len(cells)-1]
			last.text += " " + text
		}
		if i == len(parts)-1 {
			break
		}
		c := cell{rows: 1, columns: 1}
		if spec[3] == "+" {
			c.columns, c.rows = span(spec[1]), span(spec[2])
		}
		cells = append(cells, c)
		if spec[3] == "*" {
			for range min(span(spec[1]), maxColumns, max(1, maxCells-len(cells))) - 1 {
				cells = append(cells, c)
			}
		}
	}
	return cells
}

func span(number string) int {
	n, err := strconv.Atoi(number)
	if err != nil {
		return 1
	}
	return min(max(n, 1), maxSpan)
}

// columnsOf returns how many columns a table states, 0 if it does not.
func columnsOf(style string) int {
	m := columns.FindStringSubmatch(style)
	if m == nil {
		return 0
	}
	count := 0
	for part := range strings.FieldsFuncSeq(m[1], func(c rune) bool { return c == ',' || c == ';' }) {
		if n := repeated.FindStringSubmatch(strings.TrimSpace(part)); n != nil {
			count += span(n[1])
		} else {
			count++
		}
	}
	return count
}

// rowsOf returns the cells in rows of so many columns. The last row may be shorter.
func rowsOf(cells []cell, count int) [][]table.Cell {
	var rows [][]table.Cell
	covered := make([]int, count) // rows that a cell above still covers
	for total := 0; len(cells) > 0; total += count {
		var row []table.Cell
		for column := 0; column < count; {
			switch {
			case covered[column] > 0:
				covered[column]--
				row = append(row, table.Cell{Covered: true})
				column++
			case len(cells) == 0:
				column = count
			default:
				c := cells[0]
				cells = cells[1:]
				if total > maxCells {
					c.rows = 1
				}
				width := min(c.columns, count-column)
				for i := range width {
					covered[column+i] = c.rows - 1
					row = append(row, table.Cell{Covered: i > 0})
				}
				row[column].Text, row[column].Rows, row[column].Columns = c.text, c.rows, width
				column += width
			}
		}
		rows = append(rows, row)
	}
	return rows
}
