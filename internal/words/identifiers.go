package words

import "strings"

// identifierParts calls yield for each part of the identifiers of a text that are written
// in humps, in lower case: get, user, by and id for getUserById, http and server for
// HTTPServer. Parts of one letter are left out. The identifier as a whole is a word as any
// other. Identifiers are of ASCII.
func identifierParts(text string, yield func(part string)) {
	for i := 0; i < len(text); {
		if !isLetter(text[i]) {
			i++
			continue
		}
		end := i
		for end < len(text) && (isLetter(text[end]) || isDigit(text[end])) {
			end++
		}
		whole := end == len(text) || text[end] < 0x80 // else it continues with other letters
		if word := text[i:end]; whole && hasHump(word) {
			eachHump(word, yield)
		}
		i = end
	}
}

func hasHump(word string) bool {
	for i := 1; i < len(word); i++ {
		if isHump(word, i) {
			return true
		}
	}
	return false
}

func eachHump(word string, yield func(part string)) {
	start := 0
	for i := 1; i <= len(word); i++ {
		if i == len(word) || isHump(word, i) {
			if i-start > 1 {
				yield(strings.ToLower(word[start:i]))
			}
			start = i
		}
	}
}

// isHump reports whether a part begins at i: a capital behind a small letter or a digit,
// or the last one of several before small letters. In PDFs there is none.
func isHump(word string, i int) bool {
	if !isUpper(word[i]) {
		return false
	}
	return !isUpper(word[i-1]) || i+2 < len(word) && isLower(word[i+1]) && isLower(word[i+2])
}

func isUpper(c byte) bool  { return 'A' <= c && c <= 'Z' }
func isLower(c byte) bool  { return 'a' <= c && c <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isLetter(c byte) bool { return isUpper(c) || isLower(c) }
