package layout

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

var (
	// leader matches a title, the dots or strokes behind it, and the numbers of pages.
	leader = regexp.MustCompile(`^(.*?[^\s.…·․‥_–—-])\s*(?:(?:[.·․‥_]\s?){4,}|(?:…\s?){2,}|[-–—]{6,})\s*(` + pagePattern + `(?:[,;]\s` + pagePattern + `)*|[ivxlc]{1,7}|[A-Z]{1,2}[-–.]\d{1,3})$`)
	// pageBehind matches a title with the number of a page behind it.
	pageBehind = regexp.MustCompile(`^(.*\pL.*?)\s+(\d{1,4}|[ivxlc]{1,7})$`)
	// contentsTitle matches the title of a table of contents.
	contentsTitle = regexp.MustCompile(`(?i)^\W*(?:(?:table of )?contents|list of (?:figures|tables)|inhalt(?:sverzeichnis)?|(?:abbildungs|tabellen)verzeichnis|sommaire|table des mati[eè]res|[ií]ndice|contenido|sum[aá]rio|inhoud(?:sopgave)?|spis treści|obsah|содержание|оглавление|зміст|içindekiler|innehåll|indhold|sisällys|目\s*录|目\s*錄|目\s*次|목차)\W*$`)
)

const (
	minEntries = 3
	// maxTitleLines is how many lines of a title stand above the line with the number of
	// its page.
	maxTitleLines = 2
	// longestContentsTitle is the length in bytes of the title of a table of contents.
	longestContentsTitle = 60
)

// markContents makes a group of the entries of each table of contents, which are neither
// a table nor headings: rows that end in leaders and the number of a page, and below the
// title of a table of contents also rows that end in numbers of pages in their order.
func markContents(lines []Line) {
	for start := 0; start < len(lines); {
		below := start > 0 && isContentsTitle(lines[start-1].Text)
		n := entriesAt(lines[start:], below)
		if n > 0 {
			mark(lines[start:start+n], knowledge.BlockList)
		}
		start += max(n, 1)
	}
}

// entriesAt returns the number of lines of the entries that begin with a line, 0 if they
// are not the entries of a table of contents. titled is true if they stand below its title.
func entriesAt(lines []Line, titled bool) int {
	entries, end, last := 0, 0, 0
	waiting := 0 // rows of a title whose page has not come
	for at := 0; at < len(lines); {
		row := besideAt(lines[at:])
		text := textOf(row)
		if !mayBeEntry(row) || at > 0 && (!nearEntry(lines[at-1], row[0]) || isContentsTitle(text) || row[0].Size > headingRatio*lines[0].Size) {
			break
		}
		at += len(row)
		page, ok := 0, hasLeader(text)
		if !ok && titled {
			if m := pageBehind.FindStringSubmatch(text); m != nil {
				page, _ = plainNumber(m[2]) // 0 for a Roman one
				ok = page >= last
			}
		}
		switch {
		case ok:
			entries, end, waiting, last = entries+1, at, 0, max(last, page)
		case (entries > 0 || titled) && waiting < maxTitleLines:
			waiting++
		default:
			at = len(lines)
		}
	}
	if entries < minEntries {
		return 0
	}
	return end
}

// leaders are the beginnings of leaders. A text without one need not be matched.
var leaders = []string{"..", ". .", "…", "··", "· ·", "‥", "․", "__", "-----", "–––", "———"}

// hasLeader reports whether a text has a leader and the number of a page behind it.
func hasLeader(text string) bool {
	if n := len(text); n == 0 || strings.IndexByte("0123456789ivxlc", text[n-1]) < 0 {
		return false
	}
	return slices.ContainsFunc(leaders, func(s string) bool { return strings.Contains(text, s) }) && leader.MatchString(text)
}

// isContentsTitle reports whether a text is the title of a table of contents.
func isContentsTitle(text string) bool {
	return len(text) <= longestContentsTitle && contentsTitle.MatchString(text)
}

// besideAt returns the lines that stand beside the first.
func besideAt(lines []Line) []Line {
	n := 1
	for n < len(lines) && Beside(lines[n-1], lines[n]) {
		n++
	}
	return lines[:n]
}

func mayBeEntry(row []Line) bool {
	for _, l := range row {
		if l.Role.Table != 0 || l.group != (group{}) || l.heading.level > 0 || l.Role.Kind == knowledge.BlockHeading || l.Role.Kind.IsFurniture() {
			return false
		}
	}
	return true
}

// nearEntry reports whether a row can be the next one of a table of contents.
func nearEntry(last, next Line) bool {
	if next.Page != last.Page {
		return next.Page == last.Page+1
	}
	return next.Box.Y1-last.Box.Y2 < 4*height(last.Box)
}

func textOf(row []Line) string {
	if len(row) == 1 {
		return row[0].Text
	}
	var texts []string
	for _, l := range row {
		texts = append(texts, l.Text)
	}
	return strings.Join(texts, " ")
}

// contentsBlock returns the block of the entries of a table of contents: a line for each,
// with one sign for the leaders.
func contentsBlock(lines []Line) knowledge.Block {
	b := knowledge.Block{Kind: knowledge.BlockList}
	var text strings.Builder
	at, open := 0, false
	for start := 0; start < len(lines); {
		row := besideAt(lines[start:])
		start += len(row)
		if at > 0 {
			between := "\n"
			if open {
				between = " "
			}
			text.WriteString(between)
			at++
		}
		s := textOf(row)
		m := leader.FindStringSubmatch(s)
		if m != nil {
			s = m[1] + " … " + m[2]
		}
		open = m == nil && !pageBehind.MatchString(s)
		n := utf8.RuneCountInString(s)
		text.WriteString(s)
		b.Lines = append(b.Lines, knowledge.Line{Start: at, End: at + n, Page: row[0].Page, Box: boxOf(row)})
		at += n
	}
	b.Text = text.String()
	return b
}
