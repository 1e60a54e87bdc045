// Package script writes raised and lowered text, such as exponents, the marks of notes
// and the indices of formulas, in plain text. Readers of formats that state the
// position of a text use it, so that 10⁶ cannot be read as 106.
package script

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	raised = formsOf(
		"0123456789+-=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVWαβγδεθιφχ",
		"⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂᵅᵝᵞᵟᵋᶿᶥᵠᵡ")
	lowered = formsOf(
		"0123456789+-=()aehijklmnoprstuvxβγρφχ",
		"₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ")
)

// formsOf maps each character of a text to the one at its place in another.
func formsOf(plain, forms string) map[rune]rune {
	m := map[rune]rune{}
	to := []rune(forms)
	for i, char := range []rune(plain) {
		m[char] = to[i]
	}
	for _, minus := range "−–‐‑" {
		m[minus] = m['-']
	}
	return m
}

// kept are raised by their own form, and need no other one.
const kept = "*†‡§¶°ªº′″™®©"

// Super returns a raised text: in superscript characters if all of it has them, else
// as "^x" for one character and "^(…)" for several. Marks such as * and ™ stay as they
// are. Spaces around the text stay outside.
func Super(text string) string { return write(text, raised, kept, "^") }

// Sub returns a lowered text: in subscript characters if all of it has them, else as
// "_x" for one character and "_(…)" for several. Spaces around the text stay outside.
func Sub(text string) string { return write(text, lowered, "", "_") }

func write(text string, forms map[rune]rune, kept, mark string) string {
	trimmed := strings.TrimFunc(text, unicode.IsSpace)
	if trimmed == "" {
		return text
	}
	before, after, _ := strings.Cut(text, trimmed)
	if s, ok := written(trimmed, forms, kept); ok {
		return before + s + after
	}
	if utf8.RuneCountInString(trimmed) > 1 {
		trimmed = "(" + trimmed + ")"
	}
	return before + mark + trimmed + after
}

// written returns a text in the given forms. ok is false if a character has none.
func written(text string, forms map[rune]rune, kept string) (s string, ok bool) {
	var b strings.Builder
	for _, char := range text {
		form, known := forms[char]
		switch {
		case known:
			b.WriteRune(form)
		case strings.ContainsRune(kept, char), isForm(char, forms):
			b.WriteRune(char)
		default:
			return "", false
		}
	}
	return b.String(), true
}

func isForm(char rune, forms map[rune]rune) bool {
	for _, form := range forms {
		if form == char {
			return true
		}
	}
	return false
}
