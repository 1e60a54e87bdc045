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
	switch d.labels.verdict(d.entitiesNear(m.start, m.end), m.entity) {
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

// verdict is what labels say of a match.
type verdict int

const (
	silent verdict = iota
	confirms
	refutes
)

// verdict returns what the entities of the nearest label say of an entity.
func (labels) verdict(named []string, entity string) verdict {
	switch {
	case len(named) == 0:
		return silent
	case isOneOf(entity, named):
		return confirms
	}
	return refutes
}

// entitiesNear returns the entities of the label that is nearest to [start, end): in the
// cell, the row and the column of a table, else before the value and then behind it.
func (d *document) entitiesNear(start, end int) []string {
	line := strings.LastIndexByte(d.text[:start], '\n') + 1
	if bar := strings.LastIndexByte(d.text[line:start], '|'); bar >= 0 {
		return d.entitiesOfCell(line, line+bar+1, start)
	}
	before := d.text[max(0, start-bytesBefore):start]
	if blank := strings.LastIndex(before, "\n\n"); blank >= 0 {
		before = before[blank:]
	}
	if named := d.labels.last(before, wordsBefore); named != nil {
		return named
	}
	behind, _, _ := strings.Cut(d.text[end:min(len(d.text), end+bytesBehind)], "\n")
	if named := d.labels.last(behind, 3); len(named) > 0 && named[0] != lookalike {
		return named
	}
	return nil
}

// entitiesOfCell returns the entities of the label of a cell, which begins at cell and
// whose value begins at start: in the cell itself, in the header of its column, or in the
// cell before it.
func (d *document) entitiesOfCell(line, cell, start int) []string {
	if named := d.labels.last(d.text[cell:start], wordsBefore); named != nil {
		return named
	}
	row := d.text[line:cell]
	column := strings.Count(row, "|")
	if header := d.header(line); header != "" {
		if cells := strings.Split(header, "|"); column < len(cells) {
			if named := d.labels.last(cells[column], wordsBefore); named != nil {
				return named
			}
		}
	}
	if column > 2 {
		return nil
	}
	return d.labels.last(row, wordsBefore)
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

// last returns the entities of the last label among the last few words of a text, nil if
// there is none.
func (l labels) last(text string, words int) []string {
	for range words {
		text = strings.TrimRightFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
		if text == "" {
			return nil
		}
		start := len(text)
		for start > 0 {
			r, size := utf8.DecodeLastRuneInString(text[:start])
			if !unicode.IsLetter(r) && !isDigitRune(r) {
				break
			}
			start -= size
		}
		if named := l.of(text[start:]); named != nil {
			return named
		}
		text = text[:start]
	}
	return nil
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
