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
	englishNumber = regexp.MustCompile(`^(?:\d+|\d{1,3}(?:,\d{3})+)?(?:\.\d+)?$`)
	germanNumber  = regexp.MustCompile(`^(?:\d+|\d{1,3}(?:\.\d{3})+)?(?:,\d+)?$`)
	spacedNumber  = regexp.MustCompile(`^\d{1,3}(?:[ '’]\d{3})+(?:[.,]\d+)?$`)
	currency      = regexp.MustCompile(`^(?:[$€£¥]|EUR|USD|GBP|CHF|JPY|SEK|NOK|DKK|PLN|CZK)`)
	currencyEnd   = regexp.MustCompile(`(?:[$€£¥]|EUR|USD|GBP|CHF|JPY|SEK|NOK|DKK|PLN|CZK)$`)
)

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

// isEmpty reports whether a cell has no value.
func isEmpty(text string) bool {
	return slices.Contains([]string{"", "-", "–", "—", "n/a", "na", "#n/a", "k.a.", "k. a.", "null", "nil", "none"}, strings.ToLower(text))
}
