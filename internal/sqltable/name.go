package sqltable

import (
	"strconv"
	"strings"
	"unicode"
)

// maxName bounds a name, in code points.
const maxName = 60

// keywords are words of SQL that cannot be a name without quotes, and that are headers of
// tables.
const keywords = " add all alter and as between by case check collate column commit constraint create default delete desc distinct drop else end escape except exists filter for foreign from full group having if in index insert into is join key left limit not null of offset on or order outer over primary range references release right row rows select set table then to transaction union unique update using values view when where window with "

// names makes names for SQL, each of which is there once.
type names map[string]bool

// of returns a name like a text: letters and digits of any script in lower case, and "_".
// fallback is the name for a text without any.
func (n names) of(text, fallback string) string {
	var b strings.Builder
	count := 0
	for _, r := range strings.ToLower(text) {
		if count == maxName {
			break
		}
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "_"):
			b.WriteByte('_')
		default:
			continue
		}
		count++
	}
	name := strings.Trim(b.String(), "_")
	switch {
	case name == "":
		name = fallback
	case unicode.IsDigit([]rune(name)[0]):
		name = "n" + name
	case strings.Contains(keywords, " "+name+" ") || strings.HasPrefix(name, "sqlite"):
		name += "_"
	}
	unique := name
	for i := 2; n[unique]; i++ {
		unique = name + "_" + strconv.Itoa(i)
	}
	n[unique] = true
	return unique
}

// quoted returns a name as a quoted identifier.
func quoted(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
