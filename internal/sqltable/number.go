package sqltable

import (
	"regexp"
	"slices"
	"strings"
)

// notation is how numbers are written.
type notation int

const (
	english notation = iota // 1,234.56
	german                  // 1.234,56
)

var (
	englishNumber = regexp.MustCompile(`^(?:\d+|\d{1,3}(?:,\d{3})+|\d{1,2}(?:,\d{2})+,\d{3})?(?:\.\d+)?$`) // 12,34,567 in India
	germanNumber  = regexp.MustCompile(`^(?:\d+|\d{1,3}(?:\.\d{3})+)?(?:,\d+)?$`)
	spacedNumber  = regexp.MustCompile(`^\d{1,3}(?:[ '’]\d{3})+(?:[.,]\d+)?$`)
	currency      = regexp.MustCompile(`^(?:` + currencies + `)`)
	currencyEnd   = regexp.MustCompile(`(?:` + currencies + `)$`)
	telephone     = regexp.MustCompile(`^\+(?:\d{1,3}(?: \d{3})+|\d{8,})$`)
	address       = regexp.MustCompile(`^(?:[01]?\d?\d|2[0-4]\d|25[0-5])(?:\.(?:[01]\d\d|2[0-4]\d|25[0-5])){3}$`)
	formulaError  = regexp.MustCompile(`^(?:#(?:[A-ZÄÖÜ]{2,}(?:/0)?[!?]|NV)|Err:\d{3})$`)
)

// currencies are signs and codes of currencies.
const currencies = `[A-Z]{0,3}\$|\p{Sc}|(?:EUR|USD|GBP|CHF|JPY|SEK|NOK|DKK|PLN|CZK|CAD|AUD|NZD|INR|CNY|BRL|MXN|HUF|RON|TRY|ZAR|SGD|HKD|KRW)|kr\.?|zł|Fr\.`

// blanks are spaces that stand between the parts of a number.
var blanks = strings.NewReplacer("\u00a0", " ", "\u202f", " ", "\u2009", " ", "\u2212", "-")

// amount is a number as a cell shows it.
type amount struct {
	negative bool
	body     string // digits with separators
	unit     string // a currency, "%", or ""
}

// readAmount splits the text of a cell. ok is false if it is no number in any notation.
func readAmount(text string) (a amount, ok bool) {
	text = strings.TrimSpace(blanks.Replace(text))
	if telephone.MatchString(text) {
		return a, false
	}
	if inner, found := strings.CutPrefix(text, "("); found && strings.HasSuffix(inner, ")") {
		a.negative, text = true, strings.TrimSuffix(inner, ")")
	}
	text = a.sign(text)
	if unit := currency.FindString(text); unit != "" {
		a.unit, text = unit, a.sign(strings.TrimPrefix(text, unit))
	}
	for _, unit := range []string{"%", currencyEnd.FindString(text)} {
		if rest, found := strings.CutSuffix(text, unit); found && unit != "" && a.unit == "" {
			a.unit, text = unit, strings.TrimSpace(rest)
		}
	}
	if rest, found := strings.CutSuffix(text, "-"); found && !a.negative { // as SAP writes it
		a.negative, text = true, rest
	}
	if spacedNumber.MatchString(text) {
		text = strings.NewReplacer(" ", "", "'", "", "’", "").Replace(text)
	}
	a.body = text
	return a, text != "" && (englishNumber.MatchString(text) || germanNumber.MatchString(text))
}

// sign takes the sign from the beginning of a text.
func (a *amount) sign(text string) string {
	text = strings.TrimSpace(text)
	if rest, found := strings.CutPrefix(text, "-"); found {
		a.negative, text = true, rest
	} else {
		text = strings.TrimPrefix(text, "+")
	}
	return strings.TrimSpace(text)
}

// isIn reports whether a number may be written in a notation.
func (a amount) isIn(n notation) bool {
	if n == german {
		return germanNumber.MatchString(a.body)
	}
	return englishNumber.MatchString(a.body)
}

// digits returns the number with a point and without separators of groups.
func (a amount) digits(n notation) string {
	text := strings.ReplaceAll(a.body, ",", "")
	if n == german {
		text = strings.ReplaceAll(strings.ReplaceAll(a.body, ".", ""), ",", ".")
	}
	if strings.HasPrefix(text, ".") {
		text = "0" + text
	}
	if a.negative {
		text = "-" + text
	}
	return text
}

// isCode reports whether a number is one of a code rather than of an amount, which would lose
// its zeros: "007".
func (a amount) isCode() bool {
	return len(a.body) > 1 && a.body[0] == '0' && strings.Trim(a.body, "0123456789") == ""
}

// isAddress reports whether a number is rather the address of a computer: "192.168.100.101".
func (a amount) isAddress() bool { return address.MatchString(a.body) }

// isEmpty reports whether a cell has no value.
func isEmpty(text string) bool {
	return slices.Contains([]string{"", "-", "–", "—", "n/a", "#n/a", "k.a.", "k. a.", "null"}, strings.ToLower(text))
}

// isMissing reports whether a cell has no value in a column of numbers or dates. Among words, "NA"
// may be a region.
func isMissing(text string) bool {
	return isEmpty(text) || slices.Contains([]string{"na", "nil", "none"}, strings.ToLower(text)) || isError(text)
}

// isError reports whether a cell has an error of a formula in the place of a value: "#DIV/0!".
func isError(text string) bool { return formulaError.MatchString(text) }
