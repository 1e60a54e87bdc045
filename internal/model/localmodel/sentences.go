package localmodel

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// passage is a sentence, list item or table row of a source, in the form in
// which it is quoted.
type passage struct {
	text     string
	source   int      // index into the sources
	position int      // among the passages of its source
	fragment bool     // not a whole sentence
	cells    []string // of a row of a table, with the names of their columns
	values   []string // the same without these
	labels   int      // the number of first cells that are the name of the row
	heading  string
}

// maxPassage is the length in bytes above which a quoted passage is cut at a
// word.
const maxPassage = 480

// splitter splits the text of one source into passages.
type splitter struct {
	out       []passage
	source    int
	heading   string
	paragraph []string
	table     []string // the rows read so far
	fenced    bool     // inside a code block
}

// passages returns the passages of a source.
func passages(s source, index int) []passage {
	c := &splitter{source: index}
	for line := range strings.Lines(s.text) {
		c.line(strings.TrimSpace(line))
	}
	c.flush()
	return c.out
}

func (c *splitter) line(line string) {
	if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
		c.flush()
		c.fenced = !c.fenced
		return
	}
	if isRow(line) && !c.fenced {
		c.flushParagraph()
		c.table = append(c.table, line)
		return
	}
	c.flushTable()
	switch {
	case line == "":
		c.flush()
	case c.fenced:
		c.add(line, true)
	case strings.HasPrefix(line, "#"):
		c.flush()
		c.heading = removeCitationMarks(strings.TrimSpace(strings.TrimLeft(line, "#")))
	default:
		item, isItem := cutBullet(line)
		if isItem {
			c.flushParagraph()
		}
		c.paragraph = append(c.paragraph, item)
	}
}

func (c *splitter) flush() {
	c.flushParagraph()
	c.flushTable()
}

// flushParagraph joins the lines collected so far and splits them into
// sentences.
func (c *splitter) flushParagraph() {
	lines := c.paragraph
	c.paragraph = nil
	if len(lines) == 0 {
		return
	}
	if areKeysAndValues(lines) {
		for _, line := range lines {
			c.add(removeCitationMarks(line), true)
		}
		return
	}
	if text := removeCitationMarks(joinLines(lines)); !hasNoSentences(text, len(lines)) {
		for _, sentence := range cutSentences(text) {
			c.add(sentence, false)
		}
		return
	}
	for _, line := range lines { // names and values, addresses, verses: each line is a passage
		c.add(removeCitationMarks(line), true)
	}
}

// hasNoSentences reports whether a paragraph of several lines has no sentences.
func hasNoSentences(text string, lines int) bool {
	return lines > 2 && len(text) > 200 && len(cutSentences(text))*300 < len(text)
}

func (c *splitter) add(text string, fragment bool) {
	text = strings.TrimSpace(text)
	if utf8.RuneCountInString(text) < 2 || !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
		return
	}
	if len(text) > maxPassage {
		text = cutAtWord(text, maxPassage) + " …"
	}
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(text, `"'“‘(`))
	c.out = append(c.out, passage{
		text: text, source: c.source, position: len(c.out), heading: c.heading,
		fragment: fragment || unicode.IsLower(first) || !endsLikeSentence(text),
	})
}

// endsLikeSentence reports whether a text ends like a sentence or a row.
func endsLikeSentence(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text, `"'”’)]`))
	return strings.ContainsRune(".!?…:;。！？", last)
}

// joinLines joins wrapped lines. A word that was hyphenated at the end of a
// line becomes whole again.
func joinLines(lines []string) string {
	if len(lines) == 1 && !strings.Contains(lines[0], "  ") && !strings.Contains(lines[0], "\t") {
		return lines[0]
	}
	lines = slices.Clone(lines) // the loop removes the ends of hyphenated words
	var b strings.Builder
	for i, line := range lines {
		if i > 0 {
			b.WriteByte(' ')
		}
		if i+1 < len(lines) && isHyphenated(line, lines[i+1]) {
			line = strings.TrimSuffix(line, "-")
			b.WriteString(line)
			first, rest, _ := strings.Cut(lines[i+1], " ")
			b.WriteString(first)
			lines[i+1] = rest
			continue
		}
		b.WriteString(line)
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func isHyphenated(line, next string) bool {
	before, ok := strings.CutSuffix(line, "-")
	if !ok || before == "" || next == "" {
		return false
	}
	last, _ := utf8.DecodeLastRuneInString(before)
	first, _ := utf8.DecodeRuneInString(next)
	return unicode.IsLower(last) && unicode.IsLower(first)
}

// cutSentences splits a text at the ends of sentences: at a full stop, question
// mark or exclamation mark before a space and a possible beginning of a
// sentence.
func cutSentences(text string) []string {
	var out []string
	start := 0
	for i, r := range text {
		switch r {
		case '.', '!', '?', '。', '！', '？':
		default:
			continue
		}
		if i < start {
			continue
		}
		end := i + utf8.RuneLen(r)
		for end < len(text) && strings.IndexByte(`.!?"')]`, text[end]) >= 0 {
			end++
		}
		end += len(text[end:]) - len(strings.TrimLeft(text[end:], "”’»"))
		if r < utf8.RuneSelf && end < len(text) && text[end] != ' ' {
			continue
		}
		rest := strings.TrimLeft(text[end:], " ")
		if r == '.' && (!canBeginSentence(rest) || endsInAbbreviation(text[start:i])) {
			continue
		}
		out = append(out, text[start:end])
		start = len(text) - len(rest)
	}
	if start < len(text) {
		out = append(out, text[start:])
	}
	return out
}

// canBeginSentence reports whether a text can be the beginning of a sentence.
func canBeginSentence(text string) bool {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(text, `"'“‘([*`))
	return text == "" || unicode.IsUpper(first) || unicode.IsDigit(first) || unicode.Is(unicode.Lo, first)
}

// endsInAbbreviation reports whether the text ends in a word whose full stop
// does not end a sentence.
func endsInAbbreviation(text string) bool {
	word := text[strings.LastIndexAny(text, " -(\"'")+1:]
	switch word {
	case "e.g", "i.e", "cf", "vs", "etc", "Dr", "Mr", "Mrs", "Ms", "Prof", "St", "No", "Nos", "Fig", "Figs", "Eq", "Sec", "Vol", "pp", "p",
		"approx", "Inc", "Ltd", "Co", "Corp", "Dept", "Jan", "Feb", "Mar", "Apr", "Jun", "Jul", "Aug", "Sep", "Sept", "Oct", "Nov", "Dec":
		return true
	}
	first, size := utf8.DecodeRuneInString(word)
	return size == len(word) && unicode.IsUpper(first) && word != "I" // an initial
}

func cutAtWord(text string, limit int) string {
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	text = text[:limit]
	if i := strings.LastIndexByte(text, ' '); i > limit/2 {
		return text[:i]
	}
	return text
}
