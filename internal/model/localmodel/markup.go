package localmodel

import (
	"regexp"
	"strings"
)

// isRow reports whether a line is a row of a table, with cells between bars or
// separated by tabs.
func isRow(line string) bool {
	return strings.Count(line, "|") >= 2 || strings.Contains(line, " | ") || strings.Count(line, "\t") >= 2
}

// cutRow returns the cells of a row, or none for the rule below a header.
func cutRow(row string) []string {
	if strings.Trim(row, "|:-+= \t") == "" {
		return nil
	}
	separator := "|"
	if !strings.Contains(row, separator) {
		separator = "\t"
	}
	cells := strings.Split(strings.Trim(strings.TrimSpace(row), separator), separator)
	for i := range cells {
		cells[i] = removeCitationMarks(strings.TrimSpace(cells[i]))
	}
	return cells
}

// renderRow returns cells as text.
func renderRow(cells []string) string {
	if len(cells) == 0 {
		return ""
	}
	return strings.TrimRight(strings.Join(cells, ", "), ".") + "."
}

// referenceNumber matches the number of an entry in a list of references.
var referenceNumber = regexp.MustCompile(`^\[\d{1,4}\]\s+`)

// cutBullet removes the mark of a list item.
func cutBullet(line string) (item string, isItem bool) {
	for _, mark := range []string{"- ", "* ", "+ ", "• ", "– ", "> "} {
		if rest, ok := strings.CutPrefix(line, mark); ok {
			rest = strings.TrimPrefix(strings.TrimPrefix(rest, "[ ] "), "[x] ")
			return strings.TrimSpace(rest), true
		}
	}
	if numbered := referenceNumber.FindString(line); numbered != "" {
		return line[len(numbered):], true
	}
	rest := strings.TrimLeft(line, "0123456789")
	if n := len(line) - len(rest); n > 0 && n < 4 && (strings.HasPrefix(rest, ". ") || strings.HasPrefix(rest, ") ")) {
		return strings.TrimSpace(rest[2:]), true
	}
	return line, false
}

// removeCitationMarks removes text that looks like a citation mark and would
// otherwise be read as one of the model's own. It keeps everything else:
// extraction has removed markup, so Markdown syntax in a passage is mostly
// code.
func removeCitationMarks(text string) string {
	for _, mark := range []string{"<source_", "</source_", "<citation", "</citation"} {
		for {
			i := strings.Index(text, mark)
			if i < 0 {
				break
			}
			j := strings.IndexByte(text[i:], '>')
			if j < 0 {
				return text[:i]
			}
			text = text[:i] + text[i+j+1:]
		}
	}
	return text
}
