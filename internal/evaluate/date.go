package evaluate

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// months are the names of months in English, German, French, Spanish, Italian, Portuguese and Dutch,
// and the usual short forms.
var months = func() map[string]int {
	table := map[string]int{}
	for i, names := range []string{
		"january jan januar janvier enero gennaio janeiro januari", "february feb februar février febrero febbraio fevereiro februari",
		"march mar märz mars marzo março maart", "april apr avril abril aprile", "may mai mayo maggio maio mei",
		"june jun juni juin junio giugno junho", "july jul juli juillet julio luglio julho", "august aug août agosto augustus",
		"september sep sept septembre septiembre settembre setembro", "october oct oktober okt octobre octubre ottobre outubro",
		"november nov novembre noviembre novembro", "december dec dezember dez décembre diciembre dicembre dezembro",
	} {
		for name := range strings.FieldsSeq(names) {
			table[name] = i + 1
		}
	}
	return table
}()

// Patterns of dates at the beginning of a text.
var (
	isoDate    = regexp.MustCompile(`^(\d{4})-(\d{1,2})-(\d{1,2})(?:\D|$)`)
	dottedDate = regexp.MustCompile(`^(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})(?:\D|$)`)
	slashDate  = regexp.MustCompile(`^(\d{1,2})/(\d{1,2})/(\d{4})(?:\D|$)`)
	dayFirst   = regexp.MustCompile(`^(\d{1,2})(?:st|nd|rd|th|\.|er)?\s+(?:of\s+|de\s+)?(\pL{3,10})\.?,?(?:\s+(?:de\s+)?(\d{4}))?(?:\P{L}|$)`)
	monthDay   = regexp.MustCompile(`^(\pL{3,10})\.?\s+(\d{1,2})(?:st|nd|rd|th)?(?:,?\s+(\d{4}))?(?:\D|$)`)
	monthYear  = regexp.MustCompile(`^(\pL{3,10})\.?\s+(\d{4})(?:\D|$)`)
)

// dateAt returns the date that begins with a digit at a place, and its end.
func dateAt(text string, at int) (q quantity, end int, ok bool) {
	rest := text[at:min(len(text), at+60)]
	if m := isoDate.FindStringSubmatchIndex(rest); m != nil {
		return dated(at, m[7], date(group(rest, m, 1), group(rest, m, 2), group(rest, m, 3)))
	}
	if m := dottedDate.FindStringSubmatchIndex(rest); m != nil {
		return dated(at, m[7], date(group(rest, m, 3), group(rest, m, 2), group(rest, m, 1)))
	}
	if m := slashDate.FindStringSubmatchIndex(rest); m != nil { // month and day in either order
		year := group(rest, m, 3)
		return dated(at, m[7], date(year, group(rest, m, 1), group(rest, m, 2)), date(year, group(rest, m, 2), group(rest, m, 1)))
	}
	m := dayFirst.FindStringSubmatchIndex(rest)
	if m == nil {
		return quantity{}, at, false
	}
	month, ok := monthNamed(group(rest, m, 2), group(rest, m, 3))
	if !ok {
		return quantity{}, at, false
	}
	return dated(at, max(m[5], m[7]), date(group(rest, m, 3), strconv.Itoa(month), group(rest, m, 1)))
}

// monthFirst returns the date that begins with the name of a month at a place, and its end.
func monthFirst(text string, at int) (q quantity, end int, ok bool) {
	rest := text[at:min(len(text), at+60)]
	if m := monthYear.FindStringSubmatchIndex(rest); m != nil {
		if month, ok := months[strings.ToLower(group(rest, m, 1))]; ok {
			return dated(at, m[5], fmt.Sprintf("%s-%02d", group(rest, m, 2), month))
		}
	}
	m := monthDay.FindStringSubmatchIndex(rest)
	if m == nil {
		return quantity{}, at, false
	}
	month, ok := monthNamed(group(rest, m, 1), group(rest, m, 3))
	if !ok {
		return quantity{}, at, false
	}
	return dated(at, max(m[5], m[7]), date(group(rest, m, 3), strconv.Itoa(month), group(rest, m, 2)))
}

// monthNamed returns the month of a name. Without a year a name in lower case is none: 10 may be.
func monthNamed(name, year string) (month int, ok bool) {
	month, ok = months[strings.ToLower(name)]
	return month, ok && (year != "" || strings.ToLower(name) != name)
}

// group returns what a group of a pattern matched, "" for nothing.
func group(text string, match []int, n int) string {
	if match[2*n] < 0 {
		return ""
	}
	return text[match[2*n]:match[2*n+1]]
}

// date returns a date as 2026-03-05, or as 03-05 without its year, and "" if there is no such day.
func date(year, month, day string) string {
	m, _ := strconv.Atoi(month) // all are digits
	d, _ := strconv.Atoi(day)
	if m < 1 || m > 12 || d < 1 || d > 31 {
		return ""
	}
	if year == "" {
		return fmt.Sprintf("%02d-%02d", m, d)
	}
	return fmt.Sprintf("%s-%02d-%02d", year, m, d)
}

func dated(at, length int, dates ...string) (quantity, int, bool) {
	dates = slices.DeleteFunc(dates, func(d string) bool { return d == "" })
	return quantity{start: at, dates: dates}, at + length, len(dates) > 0
}

// sharesDate reports whether two dates may be the same, as far as both tell: 2026-03 and 2026-03-05
// may be, and 03-05 too.
func sharesDate(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool {
		return slices.ContainsFunc(b, func(y string) bool {
			return strings.HasPrefix(x, y) && len(y) > 5 || strings.HasPrefix(y, x) && len(x) > 5 ||
				strings.HasSuffix(x, y) && len(y) == 5 || strings.HasSuffix(y, x) && len(x) == 5
		})
	})
}

// hasYear reports whether a number is the year of a date.
func hasYear(dates []string, values []float64) bool {
	return slices.ContainsFunc(dates, func(d string) bool {
		year, err := strconv.Atoi(strings.SplitN(d, "-", 2)[0])
		return err == nil && len(d) > 5 && slices.Contains(values, float64(year))
	})
}
