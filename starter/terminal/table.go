package terminal

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Table writes rows under a header, in columns. On a screen that is too narrow it shortens
// the ids in the column ID to beginnings that differ, leaves out the columns that are named
// in spare, the first one first, and at last cuts long cells.
func Table(out io.Writer, header []string, rows [][]string, spare ...string) error {
	all := cleaned(append([][]string{header}, rows...))
	widths := naturalWidths(all)
	if screen := Width(out); screen > 0 {
		all, widths = fit(all, screen, spare)
	}
	for n, row := range all {
		for i, cell := range row {
			cell = ansi.Truncate(cell, widths[i], "…")
			row[i] = coloured(out, cellStyle(n == 0, cell), cell)
		}
	}
	return writeColumns(out, "", all, widths)
}

// cleaned returns rows in which each cell is on one line and free of control characters.
func cleaned(rows [][]string) [][]string {
	all := make([][]string, 0, len(rows))
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = line(cell)
		}
		all = append(all, cells)
	}
	return all
}

// writeColumns writes cleaned rows in columns of the given widths.
func writeColumns(out io.Writer, indent string, rows [][]string, widths []int) error {
	for _, row := range rows {
		text := indent
		for i, cell := range row {
			text += pad(cell, widths[i]) + gap
		}
		if _, err := fmt.Fprintln(out, strings.TrimRight(text, " ")); err != nil {
			return err
		}
	}
	return nil
}

// gap is between two columns.
const gap = "  "

func cellStyle(inHeader bool, cell string) ansi.Style {
	if inHeader {
		return heading
	}
	return stateStyles[cell]
}

func pad(cell string, width int) string {
	return cell + strings.Repeat(" ", max(0, width-ansi.StringWidth(cell)))
}

// Fields writes names and values, leaving out those without a value. On a screen, long
// values continue on the next line, below their beginning; a command at the end of one, such
// as a next step, then has a line of its own and is not wrapped, so that it can be copied.
func Fields(out io.Writer, pairs ...string) error {
	names := 0
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			names = max(names, ansi.StringWidth(line(pairs[i])))
		}
	}
	width := 0
	if screen := Width(out); screen > 0 {
		width = max(1, screen-names-len(gap))
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			continue
		}
		name := coloured(out, label, line(pairs[i]))
		for _, part := range wrapValue(Clean(pairs[i+1]), width) {
			text := strings.TrimRight(pad(name, names)+gap+coloured(out, stateStyles[part], part), " ")
			if _, err := fmt.Fprintln(out, text); err != nil {
				return err
			}
			name = ""
		}
	}
	return nil
}

// Fits reports whether the table of the rows, whose first one is the header, fits out as it
// is.
func Fits(out io.Writer, rows [][]string) bool {
	screen := Width(out)
	return screen == 0 || tableWidth(naturalWidths(cleaned(rows))) <= screen
}

// Paragraph writes a state in a column of so many characters, and a text beside it. On a
// screen the text continues on the next line, below its beginning.
func Paragraph(out io.Writer, state string, column int, text string) error {
	width := 0
	if screen := Width(out); screen > 0 {
		width = max(1, screen-column-len(gap))
	}
	begin := coloured(out, stateStyles[state], pad(state, column))
	for _, part := range Wrap(Clean(text), width) {
		if _, err := fmt.Fprintln(out, begin+gap+part); err != nil {
			return err
		}
		begin = pad("", column)
	}
	return nil
}

// wrapValue returns the lines of a value.
func wrapValue(text string, width int) []string {
	before, command, found := cutLast(text, ": cairn ")
	if !found || width == 0 || ansi.StringWidth(text) <= width {
		return Wrap(text, width)
	}
	return append(Wrap(before+":", width), "cairn "+line(command))
}

func cutLast(text, separator string) (before, after string, found bool) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(separator):], true
}

// JSON writes v as indented JSON.
func JSON(out io.Writer, v any) error { return encode(out, v, "  ") }

// JSONLine writes v as JSON on one line.
func JSONLine(out io.Writer, v any) error { return encode(out, v, "") }

func encode(out io.Writer, v any, indent string) error {
	var text strings.Builder
	e := json.NewEncoder(&text)
	e.SetIndent("", indent)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(out, escape(text.String()))
	return err
}

// Count writes a number of things, whose name is given for one of them.
func Count(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// Shorten cuts a text after a number of code points, and marks the cut.
func Shorten(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
