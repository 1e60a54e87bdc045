package privacy

import (
	"strings"
	"unicode/utf8"

	"github.com/nyaruka/phonenumbers"
)

const (
	minPhone = 7 // digits
	maxPhone = 15
)

// phones returns the numbers of phones that are not part of another value. A number that
// begins with + or 00 is one that its country has. A national number has a label beside it,
// or the form in which such numbers are written.
func (d *document) phones(other []match) []match {
	var found []match
	done := 0
	for i, t := range d.tokens {
		if t.start < done || !isDigit(d.text[t.start]) {
			continue
		}
		if t.length() < minPhone && !d.joinsPhone(i) {
			continue
		}
		start := d.phoneStart(t.start)
		if start < done || !d.begins(start) && d.text[start] != '(' || isInside(other, t.start) {
			continue
		}
		if d.text[start] != '+' && d.continuesNumber(i, done, other) {
			continue
		}
		if m, ok := d.phone(start, i, other); ok {
			found = append(found, m)
			done = m.end
		}
	}
	return found
}

// joinsPhone reports whether the token behind the one at an index may be its next group.
func (d *document) joinsPhone(i int) bool {
	return i+1 < len(d.tokens) && d.tokens[i+1].number() && isPhoneGap(d.between(i), true)
}

// continuesNumber reports whether a token goes on with the digits before it, which begin
// behind done and are no value.
func (d *document) continuesNumber(i, done int, other []match) bool {
	if i == 0 {
		return false
	}
	before := d.tokens[i-1]
	return before.number() && before.start >= done && !isInside(other, before.start) && isPhoneGap(d.between(i-1), false)
}

func isInside(found []match, at int) bool {
	for _, m := range found {
		if m.score >= Threshold && m.start <= at && at < m.end {
			return true
		}
	}
	return false
}

// phoneStart returns where the number begins whose first digit is at an offset: before a
// parenthesis and a plus sign.
func (d *document) phoneStart(start int) int {
	for range 2 {
		if start > 0 && (d.text[start-1] == '+' || d.text[start-1] == '(') {
			start--
		}
	}
	return start
}

// phone returns the longest valid number that begins at start, with the token first.
func (d *document) phone(start, first int, other []match) (match, bool) {
	ends := d.phoneEnds(start, first, other)
	var verdict verdict
	if len(ends) > 0 {
		verdict = d.verdict(start, ends[len(ends)-1], Phone)
	}
	for i := len(ends) - 1; i >= 0; i-- {
		text := d.text[start:ends[i]]
		score, by := scoreOfPhone(text, verdict)
		if score >= Threshold {
			return match{Phone, start, ends[i], score, by}, true
		}
	}
	return match{}, false
}

// phoneEnds returns where a number that begins at start may end: behind each of its groups
// that makes it long enough.
func (d *document) phoneEnds(start, first int, other []match) []int {
	var ends []int
	digits := 0
	for i := first; i < len(d.tokens); i++ {
		t := d.tokens[i]
		if !t.number() || i > first && (!isPhoneGap(d.text[d.tokens[i-1].end:t.start], d.text[start] == '+') || isInside(other, t.start)) {
			break
		}
		if digits += t.digits; digits > maxPhone+2 {
			break
		}
		if digits >= minPhone && d.ends(t.end) {
			ends = append(ends, t.end)
		}
	}
	return ends
}

// isPhoneGap reports whether a text separates two groups of a number. Only a number that
// begins with + goes on in the next line.
func isPhoneGap(between string, international bool) bool {
	if len(between) > 4 || strings.Count(between, " ") > 2 {
		return false
	}
	for _, r := range between {
		switch r {
		case ' ', '\u00a0', '\u202f', '\u2009', '-', '\u2010', '\u2011', '\u2013', '.', '/', '(', ')':
		case '\n', '\r':
			if !international {
				return false
			}
		default:
			return false
		}
	}
	return between != "" && !strings.Contains(between, "..") && !strings.HasPrefix(between, ". ")
}

// scoreOfPhone returns the score of a text as the number of a phone, which is 0 if no
// country has it.
func scoreOfPhone(text string, v verdict) (score float64, by string) {
	international := strings.HasPrefix(text, "+") || strings.HasPrefix(text, "(+")
	if rest, ok := strings.CutPrefix(text, "00"); ok && !international {
		text, international = "+"+rest, true
	}
	if international {
		switch {
		case !isInternational(text):
			return 0, ""
		case v == refutes:
			return .55, byPattern
		}
		return .9, byPattern
	}
	form := formOfPhone(text)
	switch {
	case v == refutes, form == noPhone, v == silent && form == plain, !isNational(text):
		return 0, ""
	case v == confirms && form == typical:
		return .9, byPattern
	case v == confirms:
		return .75, byContext
	}
	return .6, byPattern
}

func isInternational(text string) bool {
	text = strings.TrimPrefix(text, "(")
	if without := strings.Replace(text, "(0)", " ", 1); without != text && isValidPhone(without, "") {
		return true
	}
	return isValidPhone(text, "")
}

// isNational reports whether one of the countries whose languages Cairn's labels know has
// a number.
func isNational(text string) bool {
	for _, region := range []string{"US", "GB", "DE", "FR", "ES", "IT", "NL", "BE", "AT", "CH"} {
		if isValidPhone(text, region) {
			return true
		}
	}
	return false
}

func isValidPhone(text, region string) bool {
	n, err := phonenumbers.Parse(text, region)
	if err != nil {
		return false
	}
	if region == "" {
		return phonenumbers.IsValidNumber(n)
	}
	return phonenumbers.IsValidNumberForRegion(n, region)
}

// form is how much a text looks like the number of a phone.
type form int

const (
	noPhone form = iota // a date, a decimal number, a year
	plain               // digits and groups as other numbers have them
	typical             // groups as only phones have them
)

// formOfPhone returns the form of a national number.
func formOfPhone(text string) form {
	groups := digitGroups(text)
	first := groups[0]
	switch {
	case isDateForm(groups, text), first == "0", strings.Count(text, ".") == 1 && len(groups) == 2:
		return noPhone
	case len(first) == 1 && first != "1" && strings.Contains(text, "."): // a section
		return noPhone
	case text[0] == '(' && strings.Contains(text, ")"):
		return typical
	case isAmerican(groups, text):
		return typical
	case first[0] == '0' && len(groups) > 1 && len(first) > 1:
		return typical
	}
	return plain
}

// isAmerican reports whether a number is written as 212-555-0100 or 212.555.0100.
func isAmerican(groups []string, text string) bool {
	if len(groups) == 4 && groups[0] == "1" {
		groups = groups[1:]
	}
	return len(groups) == 3 && len(groups[0]) == 3 && len(groups[1]) == 3 && len(groups[2]) == 4 && strings.ContainsAny(text, "-.\u2011")
}

// isDateForm reports whether groups of digits are those of a date.
func isDateForm(groups []string, text string) bool {
	if len(groups) < 3 || len(groups[1]) > 2 || !strings.ContainsAny(text, ".-/") {
		return false
	}
	return len(groups[0]) <= 2 && len(groups[2]) == 4 || len(groups[0]) == 4 && len(groups[2]) <= 2
}

// digitGroups returns the runs of digits of a text, which has one at least.
func digitGroups(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf || !isDigit(byte(r)) })
}
