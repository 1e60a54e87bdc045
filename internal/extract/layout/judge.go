package layout

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	minOpenRows = 3
	// maxOpenCell is the largest average of code points in a cell, unless lines or areas
	// show the rows; columns of prose have more.
	maxOpenCell = 60
)

// convincing reports whether rows with these columns and texts are a table. hinted means
// that the page draws lines or areas between them.
func convincing(rows []visualRow, columns []span, cells []texts, groups [][2]int, hinted bool) bool {
	count, all, length := 0, 0, 0
	for _, group := range groups {
		filled := texts{}
		for _, t := range cells[group[0]:group[1]] {
			for c, s := range t {
				filled[c] += s
			}
		}
		if len(filled) > 1 {
			count++
		}
		for _, s := range filled {
			all++
			length += utf8.RuneCountInString(s)
		}
	}
	switch {
	case count < 2 || count*2 < len(groups):
		return false
	case !hinted && len(columns) == 2 && count < minOpenRows:
		return false
	case !hinted && length > maxOpenCell*all, length > maxAreaText*all:
		return false
	case !hinted && (byColumn(rows, columns) || isProse(rows, columns, length/all)):
		return false
	case scattered(rows, groups), isIndex(rows, cells, len(columns)):
		return false
	}
	return !isContents(rows, columns) && !isChart(rows, hinted) && (hinted || !isProgram(rows)) && !isList(cells, columns) && !isForm(rows, len(groups))
}

const (
	proseRow  = 50 // code points of a row of prose over the columns, at least
	proseCell = 20 // average of code points in a cell of prose, at least
)

// isProse reports whether rows are sentences: one of them runs over the columns, or their
// cells are long and the spaces between them small, as between justified words.
func isProse(rows []visualRow, columns []span, average int) bool {
	left, right := columns[0].to, columns[len(columns)-1].from
	for _, r := range rows {
		length := 0
		for _, w := range r.words {
			length += utf8.RuneCountInString(w.text) + 1
		}
		if s := r.segments(wideGap); len(s) == 1 && length > proseRow && s[0].x1 < left && s[0].x2 > right {
			return true
		}
	}
	if severals(rows) >= manyRows {
		return false
	}
	widest := 0.0
	for i := 1; i < len(columns); i++ {
		widest = math.Max(widest, columns[i].from-columns[i-1].to)
	}
	return average >= proseCell && widest < rows[0].tall
}

// scattered reports whether only two rows have several texts, and others are among them, as
// the labels of a form are.
func scattered(rows []visualRow, groups [][2]int) bool {
	return severals(rows) == 2 && len(groups) > 2
}

// severals returns the number of rows of several texts.
func severals(rows []visualRow) int {
	n := 0
	for _, r := range rows {
		if r.kind == several {
			n++
		}
	}
	return n
}

// byColumn reports whether the file draws one column after the other, as it does with
// columns of prose, and the columns are not numbers.
func byColumn(rows []visualRow, columns []span) bool {
	numbers, all := 0, 0
	for _, r := range rows {
		for _, w := range r.words {
			if all++; isNumeric(w.text) {
				numbers++
			}
		}
	}
	if numbers*3 > all {
		return false
	}
	order := orderOf(rows, columns)
	for i := 1; i < len(order); i++ {
		if order[i].first < order[i-1].last {
			return false
		}
	}
	return true
}

// isContents reports whether rows are a table of contents: titles with the
// numbers of pages, which do not become smaller, behind them.
func isContents(rows []visualRow, columns []span) bool {
	if len(columns) > 3 {
		return false
	}
	last, pages, dots, all := 0, 0, 0, 0
	for _, r := range rows {
		if r.kind != several {
			continue
		}
		all++
		if r.leads {
			dots++
		}
		segments := r.segments(wideGap)
		end := ""
		for _, w := range segments[len(segments)-1].words {
			end += strings.TrimLeft(w.text, ".·… ")
		}
		if end != "" && strings.Trim(end, "ivxl") == "" {
			pages++ // a page of the front matter
		} else if page, ok := plainNumber(end); ok && page >= last {
			last = page
			pages++
		}
	}
	return all >= 2 && (dots*2 > all && pages*5 >= all*4 || pages == all && all >= minOpenRows && last < 1900)
}

// plainNumber returns the number that a text is.
func plainNumber(s string) (n int, ok bool) {
	if s == "" || len(s) > 4 {
		return 0, false
	}
	for _, r := range s {
		if r < '0' || r > '9' {
			return 0, false
		}
		n = 10*n + int(r-'0')
	}
	return n, true
}

// isList reports whether the first of two columns is the marks of the items of a list.
func isList(cells []texts, columns []span) bool {
	marks, all := 0, 0
	for _, t := range cells {
		if t[0] == "" {
			continue
		}
		if all++; IsItem(t[0]+" x") || reference.MatchString(t[0]) {
			marks++
		}
	}
	return len(columns) == 2 && all > 0 && marks*5 >= all*4
}

// reference matches the mark of an entry of a list of references.
var reference = regexp.MustCompile(`^\[[^\]]{1,12}\]$`)

// isForm reports whether many texts of rows are labels with a colon, or one of two rows.
func isForm(rows []visualRow, groups int) bool {
	colons, all := 0, 0
	for _, r := range rows {
		for _, s := range r.segments(wideGap) {
			if all++; strings.HasSuffix(s.words[len(s.words)-1].text, ":") {
				colons++
			}
		}
	}
	return colons*5 >= all*2 || groups == 2 && colons > 0
}

// isChart reports whether rows are the labels of a chart: numbers only, or names in the
// last row only.
func isChart(rows []visualRow, hinted bool) bool {
	letters := func(r visualRow) bool {
		return slices.ContainsFunc(r.words, func(w placedWord) bool { return strings.ContainsFunc(w.text, unicode.IsLetter) })
	}
	if !slices.ContainsFunc(rows, letters) {
		return true
	}
	return !hinted && !slices.ContainsFunc(rows[:len(rows)-1], letters)
}

// isProgram reports whether rows are lines of a program.
func isProgram(rows []visualRow) bool {
	n := 0
	for _, r := range rows {
		last := r.words[len(r.words)-1].text
		if strings.ContainsAny(last[len(last)-1:], "{};") || slices.ContainsFunc(r.words, func(w placedWord) bool {
			return strings.HasPrefix(w.text, "//") || strings.HasPrefix(w.text, "/*") || strings.HasSuffix(w.text, "()") || w.text == ":=" || w.text == "==" || w.text == "=>"
		}) {
			n++
		}
	}
	return n*5 >= len(rows)*2
}
