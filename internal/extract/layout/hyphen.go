package layout

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// seam is what stands between two lines of a text.
type seam int

const (
	spaced   seam = iota // a space
	touching             // nothing
	broken               // nothing, and the hyphen at the end of the first line goes
)

// hyphens are the characters that may stand at the end of a line within a word.
const hyphens = "-\u2010\u2011"

func trimHyphen(s string) string {
	_, size := utf8.DecodeLastRuneInString(s)
	return s[:len(s)-size]
}

// endsInHyphen reports whether a text ends in a hyphen that is part of a word.
func endsInHyphen(text string) bool {
	end, size := utf8.DecodeLastRuneInString(text)
	if !strings.ContainsRune(hyphens, end) || len(text) == size {
		return false
	}
	before, _ := utf8.DecodeLastRuneInString(text[:len(text)-size])
	return unicode.IsLetter(before) || unicode.IsDigit(before) || unicode.IsMark(before) || before == ')'
}

// seamOf returns what stands between a line and the next one of its text.
func seamOf(l, next Line) seam {
	left, right := lastField(l.Text), firstField(next.Text)
	end, _ := utf8.DecodeLastRuneInString(left)
	begin, _ := utf8.DecodeRuneInString(right)
	switch {
	case left == "" || right == "":
		return spaced
	case continuesAddress(left, right):
		return touching
	case endsInHyphen(left):
		return seamAtHyphen(l, next, trimHyphen(left), trimmed(right))
	case isAddress(left):
		return spaced
	case end == '–' && numberBefore(left) && unicode.IsDigit(begin), end == '/' && len(left) > 1 && (unicode.IsLetter(begin) || unicode.IsDigit(begin)):
		return touching
	case knowledge.Unspaced(end) && knowledge.Unspaced(begin):
		return touching
	}
	return spaced
}

// numberBefore reports whether a digit stands before the last character of a text.
func numberBefore(text string) bool {
	before, _ := utf8.DecodeLastRuneInString(trimHyphen(text))
	return unicode.IsDigit(before)
}

// seamAtHyphen returns what stands between two parts of a text with a hyphen between
// them. The hyphen of a number, a range or a name stays, as does one of a word that the
// document has with it elsewhere, or between two of its words if it breaks none. Other
// hyphens between small letters are of the line.
func seamAtHyphen(l, next Line, left, right string) seam {
	end, _ := utf8.DecodeLastRuneInString(left)
	begin, _ := utf8.DecodeRuneInString(right)
	left = strings.TrimLeftFunc(left, unicode.IsPunct)
	if isConjunction(right) { // Ein- und Ausgang
		return spaced
	}
	switch with, without := l.lexicon.count(left+"-"+right), l.lexicon.count(left+right); {
	case !unicode.IsLetter(end) && !unicode.IsMark(end) || !unicode.IsLetter(begin):
		if unicode.IsLetter(begin) || unicode.IsDigit(begin) {
			return touching
		}
		return spaced
	case isAddress(left) && !strings.Contains(left, "@"):
		return touching
	case with > without:
		return touching
	case without > with && (unicode.IsLower(begin) || inCapitals(left+right)): // not E-Mail for an email elsewhere
		return broken
	case unicode.IsLower(begin):
		if isNamed(left, right) || isCompound(left, right) || l.lexicon.leads(left) && l.lexicon.count(right) > 0 || l.lexicon.areWords(left, right) {
			return touching
		}
		return broken
	case unicode.IsUpper(begin) && inCapitals(l.Text+next.Text) && len(left) > 2 && len(right) > 2 && strings.Contains(l.Text, " ") && strings.Contains(next.Text, " "):
		return broken
	}
	return touching
}

// isNamed reports whether one of two parts of a word is written as a name or a number is:
// in capitals, as in X-ray, or with digits.
func isNamed(left, right string) bool {
	last := left[strings.LastIndex(left, "-")+1:]
	return !strings.Contains(left, "@") && (inCapitals(last) || strings.ContainsFunc(left+right, unicode.IsDigit))
}

// inCapitals reports whether a text has no small letters.
func inCapitals(text string) bool { return !strings.ContainsFunc(text, unicode.IsLower) }

// lastField and firstField return the part of a text behind its last space and before
// its first.
func lastField(text string) string {
	fields := text[strings.LastIndexFunc(text, unicode.IsSpace)+1:]
	return strings.TrimSpace(fields)
}

func firstField(text string) string {
	text = strings.TrimLeftFunc(text, unicode.IsSpace)
	if end := strings.IndexFunc(text, unicode.IsSpace); end >= 0 {
		return text[:end]
	}
	return text
}

// trimmed returns a word without the punctuation around it.
func trimmed(word string) string {
	return strings.TrimFunc(word, func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) })
}

// isAddress reports whether a word is the address of a page or of a mailbox, or the
// beginning of one.
func isAddress(word string) bool {
	return strings.Contains(word, "://") || strings.HasPrefix(strings.TrimLeft(word, "(<["), "www.") || strings.Contains(strings.TrimLeft(word, "@"), "@")
}

// continuesAddress reports whether an address that ends a line continues with the first
// word of the next one. A sentence may go on behind an address that ends in a stroke, so
// the word must look like the part of one.
func continuesAddress(left, right string) bool {
	if !isAddress(left) || left == right {
		return false
	}
	end, _ := utf8.DecodeLastRuneInString(left)
	begin, _ := utf8.DecodeRuneInString(right)
	inner := strings.ContainsAny(trimmed(right), "./_=%?&#-") || strings.ContainsFunc(right, unicode.IsDigit)
	switch {
	case strings.ContainsRune("/?#&=%", begin) && len(right) > 1:
		return strings.Contains(left, "://") || strings.Contains(left, "www.")
	case end == '@':
		return unicode.IsLetter(begin)
	case strings.ContainsRune("/?&=#_%", end):
		return inner && (unicode.IsLetter(begin) || unicode.IsDigit(begin)) && !isAddress(right)
	case end == '.':
		return inner && unicode.IsLower(begin) && !isAddress(right)
	}
	return false
}

// lexicon counts the words of a document that decide about the hyphens at the ends of
// its lines.
type lexicon struct {
	counts map[string]int  // of words in lower case, with their hyphens
	firsts map[string]bool // words before a hyphen within a line
	small  map[string]bool // words behind a hyphen that stand elsewhere in small letters
	breaks bool            // a word that ends a line with a hyphen stands elsewhere without one
}

// count returns how often a word stands within the lines of the document.
func (x *lexicon) count(word string) int {
	if x == nil {
		return 0
	}
	return x.counts[strings.ToLower(word)]
}

// leads reports whether the document has a compound that begins with a word and a hyphen.
func (x *lexicon) leads(word string) bool {
	return x != nil && x.firsts[strings.ToLower(word)]
}

// areWords reports whether both parts of a word are words of a document that breaks none at
// the ends of its lines. A part that has a capital elsewhere is of a German compound, which
// has no hyphen.
func (x *lexicon) areWords(left, right string) bool {
	return x != nil && !x.breaks && len(left) > 2 && len(right) > 2 && x.count(left) > 0 && x.small[right]
}

// readLexicon counts the words of the lines, if any of them ends in a hyphen. The parts
// of a word that is broken at the end of its line do not count.
func readLexicon(lines []Line) {
	ends := func(l Line) bool { return endsInHyphen(l.Text) }
	if !slices.ContainsFunc(lines, ends) {
		return
	}
	x := &lexicon{counts: map[string]int{}, firsts: map[string]bool{}, small: map[string]bool{}}
	var pairs [][2]string
	for i, l := range lines {
		if ends(l) && i+1 < len(lines) {
			left, right := strings.ToLower(trimmed(lastField(l.Text))), trimmed(firstField(lines[i+1].Text))
			x.small[right] = false
			right = strings.ToLower(right)
			x.counts[left], x.counts[right], x.counts[left+right], x.counts[left+"-"+right] = 0, 0, 0, 0
			x.firsts[left] = false
			pairs = append(pairs, [2]string{left, right})
		}
	}
	for i, l := range lines {
		x.read(l.Text, i > 0 && ends(lines[i-1]), ends(l))
		lines[i].lexicon = x
	}
	for _, p := range pairs {
		x.breaks = x.breaks || x.counts[p[0]+p[1]] > x.counts[p[0]+"-"+p[1]]
	}
}

// read counts the words of a line that are asked for. cut is true if its first word is
// the part of another, and open if its last word is.
func (x *lexicon) read(text string, cut, open bool) {
	if open {
		text = text[:len(text)-len(lastField(text))]
	}
	for field := range strings.FieldsSeq(text) {
		if cut {
			cut = false
			continue
		}
		spelled := trimmed(field)
		word := strings.ToLower(spelled)
		if n, asked := x.counts[word]; asked {
			x.counts[word] = n + 1
		}
		if _, asked := x.small[spelled]; asked {
			x.small[spelled] = true
		}
		if first, rest, found := strings.Cut(word, "-"); found && rest != "" {
			if _, asked := x.firsts[first]; asked {
				x.firsts[first] = true
			}
		}
	}
}
