package align

import (
	"slices"
	"strings"
	"unicode"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// stretch is a part of a block's text that is on one line of the PDF.
type stretch struct {
	start, end int // in the text of the block
	from, to   int // in the text of the PDF's block
	line       knowledge.Line
	printed    []rune // the text of the PDF's block
}

// lines returns the lines of a block's text, whose words are at these places.
func (a *aligner) lines(text []rune, own []word, places []int) []knowledge.Line {
	var parts []stretch
	for i, at := range places {
		if at < 0 {
			continue
		}
		for _, s := range split(own[i], a.words[at]) {
			if last := len(parts) - 1; last >= 0 && parts[last].line == s.line && parts[last].to <= s.from {
				parts[last].end, parts[last].to = s.end, s.to
			} else {
				parts = append(parts, s)
			}
		}
	}
	if len(parts) == 0 {
		return nil
	}
	cover(text, parts)
	var lines []knowledge.Line
	for _, s := range parts {
		if !s.shows(text) {
			continue
		}
		box := s.line.Box
		if s.from > s.line.Start+slack || s.to < s.line.End-slack {
			box = s.line.Part(max(s.from, s.line.Start), min(s.to, s.line.End))
		}
		lines = append(lines, knowledge.Line{Start: s.start, End: s.end, Page: s.line.Page, Box: box})
	}
	return lines
}

// minShown is the share of the letters and digits of a line that the PDF must have at its
// place. A line also covers words beside those that were found, which the PDF may not have.
const minShown = .9

// shows reports whether the PDF has the text of a stretch at its place. The number of a slide
// is not on it.
func (s stretch) shows(text []rune) bool {
	own := string(text[s.start:s.end])
	if s.start == 0 {
		own = strings.TrimPrefix(own, slideNumber.FindString(own))
	}
	there := map[rune]int{}
	for _, r := range letters(string(s.printed[s.from:s.to])) {
		there[r]++
	}
	found, all := 0, 0
	for _, r := range letters(own) {
		if all++; there[r] > 0 {
			there[r]--
			found++
		}
	}
	return float64(found) >= minShown*float64(all)
}

// letters returns the letters and digits of a text in lower case, without raised ones and
// without the marks of notes.
func letters(text string) []rune {
	var found []rune
	for _, r := range noteMark.ReplaceAllString(text, "") {
		if (unicode.IsLetter(r) || unicode.IsDigit(r)) && !isRaised(r) {
			found = append(found, unicode.ToLower(r))
		}
	}
	return found
}

// slack is how many characters, such as a full stop, may be on a line beside its words.
const slack = 2

// split returns the parts of a word on the lines of the PDF: two, if it is hyphenated
// there. The lengths of the words differ where the PDF joins or divides words.
func split(own word, at placed) []stretch {
	var parts []stretch
	for _, l := range at.lines {
		from, to := max(at.start, l.Start), min(at.end, l.End)
		if from >= to {
			continue
		}
		s := stretch{start: own.start + from - at.start, end: own.start + to - at.start, from: from, to: to, line: l, printed: at.runes}
		if s.start >= own.end {
			break
		}
		s.end = min(s.end, own.end)
		parts = append(parts, s)
	}
	if len(parts) > 0 {
		parts[len(parts)-1].end = own.end
	}
	return parts
}

// separators stand between the lines of a text and belong to none.
const separators = " |\n-"

// cover extends the parts so that they hold all of the text but separators: words
// that were not found, and punctuation.
func cover(text []rune, parts []stretch) {
	isSeparator := func(r rune) bool { return strings.ContainsRune(separators, r) }
	trimEnd := func(from, to int) int {
		for to > from && isSeparator(text[to-1]) {
			to--
		}
		return to
	}
	trimStart := func(from, to int) int {
		for from < to && isSeparator(text[from]) {
			from++
		}
		return from
	}
	parts[0].start = trimStart(0, parts[0].start)
	for i := range parts[:len(parts)-1] {
		left, right := &parts[i], &parts[i+1]
		cut := boundary(text[left.end:right.start]) + left.end
		left.end = trimEnd(left.end, cut)
		right.start = trimStart(cut, right.start)
	}
	last := &parts[len(parts)-1]
	last.end = trimEnd(last.end, len(text))
}

// boundary returns where the text between two lines divides: at the first line end,
// else behind the last space, else at its end.
func boundary(gap []rune) int {
	if i := slices.Index(gap, '\n'); i >= 0 {
		return i
	}
	for i := len(gap); i > 0; i-- {
		if gap[i-1] == ' ' {
			return i
		}
	}
	return len(gap)
}
