package layout

import (
	"regexp"
	"strings"
	"unicode"
)

// pagePattern matches the number of a page in an index, or the first and the last of several.
const pagePattern = `\d{1,4}(?:\s?[-–]\s?\d{1,4})?(?:n|f|ff)?\.?`

var (
	// pagesOnly matches the pages of an entry of an index: 3, 14–17, 120f.
	pagesOnly = regexp.MustCompile(`^` + pagePattern + `(?:[,;]\s` + pagePattern + `)*,?$`)
	// pagesBehind matches an entry with its pages behind a comma.
	pagesBehind = regexp.MustCompile(`^.*\pL.*[,;]\s(` + pagePattern + `(?:[,;]\s` + pagePattern + `)*),?$`)
	// severalBehind matches an entry with several pages.
	severalBehind = regexp.MustCompile(`^.*\pL.*[:\s]` + pagePattern + `(?:[,;]\s` + pagePattern + `)+,?$`)
	// seeAlso matches a reference to another entry.
	seeAlso = regexp.MustCompile(`(?i)(?:^|[.,;:(\s])(?:see(?:\s+also|\s+under)?|siehe(?:\s+auch)?|voir(?:\s+aussi)?|vgl\.|véase|cf\.)\s+\pL`)
	// year matches the number of a year, which follows a comma in other texts too.
	year = regexp.MustCompile(`^(?:1[5-9]|20)\d\d$`)
)

// isIndex reports whether rows with these texts are an index: entries with the pages on
// which they are named behind a comma, or behind dots, or several of them in a cell. Numbers
// in the cells of a table stand alone.
func isIndex(rows []visualRow, cells []texts, columns int) bool {
	marked, listed, plain, all := 0, 0, 0, 0
	for i, t := range cells {
		for c := 0; c < columns; c++ {
			s := strings.TrimRight(t[c], " .·…")
			if len(s) < 2 || pagesOnly.MatchString(s) { // the letter above its entries, or more pages of one
				continue
			}
			pages := t[c+1]
			if !pagesOnly.MatchString(pages) || !strings.ContainsFunc(s, unicode.IsLetter) {
				pages = ""
			}
			all++
			switch {
			case isEntry(s), pages != "" && (strings.HasSuffix(s, ",") || rows[i].leads):
				marked++
			case severalBehind.MatchString(s), strings.ContainsAny(pages, ",;"):
				listed++
			case pages != "":
				plain++
			}
		}
	}
	return all >= minOpenRows && (5*(marked+listed) >= 3*all || 3*listed >= all && 5*(marked+listed+plain) >= 4*all)
}

// isEntry reports whether a text is an entry of an index with its pages behind a comma, or
// one that refers to another.
func isEntry(s string) bool {
	m := pagesBehind.FindStringSubmatch(s)
	return m != nil && !year.MatchString(m[1]) || seeAlso.MatchString(s)
}
