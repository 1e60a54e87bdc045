package privacy

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	bytesBefore = 120 // of the text in which a label is looked for
	wordsBefore = 9   // between a label and its value
	bytesBehind = 30

	confirmed = .4  // what a label of the entity adds to a score
	refuted   = .35 // what a label of something else takes from it
	certain   = .9  // a score that no label lowers: its checksum leaves no doubt
)

// judged returns a match with the score that the labels around it leave.
func (d *document) judged(m match) match {
	switch d.verdict(m.start, m.end, m.entity) {
	case confirms:
		if m.score < Threshold {
			m.recogniser = byContext
		}
		m.score = min(m.score+confirmed, 1)
	case refutes:
		if m.score < certain {
			m.score -= refuted
		}
	}
	return m
}

// verdict is what the labels around a value say of it.
type verdict int

const (
	silent verdict = iota
	confirms
	refutes
)

// verdict returns what the labels say that are nearest to [start, end): in the cell, the
// row and the column of a table, else before the value and then behind it.
func (d *document) verdict(start, end int, entity string) verdict {
	line := strings.LastIndexByte(d.text[:start], '\n') + 1
	if bar := strings.LastIndexByte(d.text[line:start], '|'); bar >= 0 {
		return d.verdictOfCell(line, line+bar+1, start, entity)
	}
	before := d.text[max(0, start-bytesBefore):start]
	if blank := strings.LastIndex(before, "\n\n"); blank >= 0 {
		before = before[blank:]
	}
	if v := d.labels.verdict(before, wordsBefore, entity); v != silent {
		return v
	}
	behind, _, _ := strings.Cut(d.text[end:min(len(d.text), end+bytesBehind)], "\n")
	if d.labels.verdict(behind, 3, entity) == confirms {
		return confirms
	}
	return silent
}

// verdictOfCell returns what the labels of a cell say, which begins at cell and whose value
// begins at start: those in the cell itself, in the header of its column, or in the cell
// before it.
func (d *document) verdictOfCell(line, cell, start int, entity string) verdict {
	if v := d.labels.verdict(d.text[cell:start], wordsBefore, entity); v != silent {
		return v
	}
	row := d.text[line:cell]
	column := strings.Count(row, "|")
	if header := d.header(line); header != "" {
		if cells := strings.Split(header, "|"); column < len(cells) {
			if v := d.labels.verdict(cells[column], wordsBefore, entity); v != silent {
				return v
			}
		}
	}
	if column > 2 {
		return silent
	}
	return d.labels.verdict(row, wordsBefore, entity)
}

// maxRows bounds the rows above a value in which the header is looked for.
const maxRows = 500

// header returns the first line of the table that the line at an offset belongs to, "" if
// that is the first one.
func (d *document) header(line int) string {
	first := ""
	for range maxRows {
		if line == 0 {
			break
		}
		above := strings.LastIndexByte(d.text[:line-1], '\n') + 1
		row := d.text[above : line-1]
		if !strings.Contains(row, "|") {
			break
		}
		first, line = row, above
	}
	return first
}

// verdict returns what the last labels among the last few words of a text say of the value
// behind it. Behind another value and the end of a sentence a label says nothing any more,
// and a label of something else is settled by either of them.
func (l labels) verdict(text string, words int, entity string) verdict {
	end := len(text)
	for range words {
		start, stop := lastWord(text[:end])
		if start == stop {
			return silent
		}
		if named := l.of(text[start:stop]); named != nil {
			hasValue, ended := strings.ContainsAny(text[stop:], "0123456789"), endsSentence(text[stop:])
			switch {
			case hasValue && ended:
				return silent
			case isOneOf(entity, named):
				return confirms
			case !hasValue && !ended:
				return refutes
			}
		}
		end = start
	}
	return silent
}

// endsSentence reports whether a sentence or a line ends in a text and another one begins.
func endsSentence(text string) bool {
	for i, r := range text {
		if r == '.' || r == '\n' {
			next, _ := utf8.DecodeRuneInString(strings.TrimLeft(text[i+1:], " \n"))
			if unicode.IsUpper(next) {
				return true
			}
		}
	}
	return false
}

// lastWord returns where the last word of a text begins and ends, the same offset if there
// is none.
func lastWord(text string) (start, end int) {
	end = len(strings.TrimRightFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !isDigitRune(r) }))
	for start = end; start > 0; {
		r, size := utf8.DecodeLastRuneInString(text[:start])
		if !unicode.IsLetter(r) && !isDigitRune(r) {
			break
		}
		start -= size
	}
	return start, end
}

func isDigitRune(r rune) bool { return '0' <= r && r <= '9' }

// of returns the entities of a word, nil if it is no label. A word of German, Dutch or a
// Nordic language may end in the word for number.
func (l labels) of(word string) []string {
	word = folded(word)
	if named, ok := l[word]; ok {
		return named
	}
	for _, suffix := range []string{"nummer", "nummern", "nr", "number", "numbers"} {
		if stem, ok := strings.CutSuffix(word, suffix); ok && stem != "" {
			if named, ok := l[stem]; ok {
				return named
			}
			return l[strings.TrimSuffix(stem, "s")]
		}
	}
	return nil
}

// folded returns a word in small letters without accents.
func folded(word string) string {
	return strings.Map(func(r rune) rune {
		switch r = unicode.ToLower(r); r {
		case 'à', 'á', 'â', 'ä', 'ã', 'å':
			return 'a'
		case 'è', 'é', 'ê', 'ë':
			return 'e'
		case 'ì', 'í', 'î', 'ï':
			return 'i'
		case 'ò', 'ó', 'ô', 'ö', 'õ', 'ø':
			return 'o'
		case 'ù', 'ú', 'û', 'ü':
			return 'u'
		case 'ç':
			return 'c'
		case 'ñ':
			return 'n'
		}
		return r
	}, word)
}
