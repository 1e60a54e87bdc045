package evaluate

import (
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/cairn-rag/cairn/internal/chunk"
	"github.com/cairn-rag/cairn/internal/phrase"
	"github.com/cairn-rag/cairn/internal/words"
)

// line is a sentence of a text, or a row of a table.
type line struct {
	text    string
	header  string // of a row: the row of the names of the columns
	heading string // the heading above it
	row     bool
}

// linesOf returns the sentences and rows of a text in Markdown. Headings are not among them, and a
// sentence that is broken over several lines is one.
func linesOf(text string) []line {
	c := collector{}
	for raw := range strings.Lines(text) {
		c.add(strings.TrimSpace(raw))
	}
	c.flush()
	return c.lines
}

// collector collects the lines of a text.
type collector struct {
	lines           []line
	paragraph       []string
	heading, header string
}

func (c *collector) add(text string) {
	switch {
	case text == "":
		c.flush()
	case strings.HasPrefix(text, "|"):
		c.addRow(text)
		return
	case strings.HasPrefix(text, "#"):
		c.flush()
		c.heading = strings.TrimSpace(strings.TrimLeft(text, "#"))
	default:
		item := withoutBullet(text)
		if item != text {
			c.flush()
		}
		c.paragraph = append(c.paragraph, item)
	}
	c.header = ""
}

// unnamed is the header of rows whose columns have no names.
const unnamed = "|"

// addRow adds a row of a table. The first one names the columns, if a row of dashes follows or it has no
// number: a passage may begin in the middle of a table.
func (c *collector) addRow(text string) {
	c.flush()
	switch last := len(c.lines) - 1; {
	case strings.Trim(text, "|-: ") == "":
		if c.header == unnamed && last >= 0 && c.lines[last].row {
			c.header, c.lines = c.lines[last].text, c.lines[:last]
		}
	case c.header == "" && len(quantities(text)) == 0:
		c.header = text
	default:
		if c.header == "" {
			c.header = unnamed
		}
		c.lines = append(c.lines, line{text: text, header: c.header, heading: c.heading, row: true})
	}
}

// rowEnd matches the end of a row of a table that an answer quotes as "column: cell, column: cell.", before
// another one that begins with a small letter.
var rowEnd = regexp.MustCompile(`\.((?:\s*[\x{e000}-\x{efff}])*\s+)[\pL_][\pL\pN_ ]{0,40}: `)

// rowsOf returns the quoted rows of a sentence, the sentence itself if there are none.
func rowsOf(sentence string) []string {
	var rows []string
	start := 0
	for _, m := range rowEnd.FindAllStringSubmatchIndex(sentence, -1) {
		rows = append(rows, sentence[start:m[3]]) // with the marks of its citations
		start = m[3]
	}
	return append(rows, sentence[start:])
}

func (c *collector) flush() {
	if len(c.paragraph) > 0 {
		for _, sentence := range chunk.Sentences(strings.Join(c.paragraph, " ")) {
			for _, text := range rowsOf(sentence) {
				c.lines = append(c.lines, line{text: text, heading: c.heading})
			}
		}
	}
	c.paragraph = nil
}

// withoutBullet returns the text of an item of a list: behind a sign, or a number and a full stop.
func withoutBullet(text string) string {
	for _, bullet := range []string{"- ", "* ", "• ", "– ", "+ "} {
		if item, ok := strings.CutPrefix(text, bullet); ok {
			return strings.TrimSpace(item)
		}
	}
	number := strings.TrimLeft(text, "0123456789")
	if item, ok := strings.CutPrefix(number, ". "); ok && len(number) < len(text) && len(text)-len(number) < 3 {
		return strings.TrimSpace(item)
	}
	return text
}

// cellsOf returns the cells of a row of a table.
func cellsOf(row string) []string {
	var cells []string
	for cell := range strings.SplitSeq(strings.Trim(strings.TrimSpace(row), "|"), "|") {
		cells = append(cells, strings.TrimSpace(cell))
	}
	return cells
}

// lexicon reads the words of texts in the languages of a case. It remembers what it has read, because
// the same sentences are compared with many others. It is used by one goroutine.
type lexicon struct {
	languages  []string
	statements map[string]statement
	parts      map[string][]statement // the clauses of a sentence
	ignored    map[string][]string    // a word of grammar -> its stems; other words have none
}

// newLexicon returns a lexicon for English and the languages of some texts.
func newLexicon(texts ...string) lexicon {
	l := lexicon{languages: []string{"eng"}, statements: map[string]statement{}, parts: map[string][]statement{}, ignored: map[string][]string{}}
	for _, text := range append(texts, strings.Join(texts, "\n")) {
		if language := phrase.Language(text); language != "" && !slices.Contains(l.languages, language) {
			l.languages = append(l.languages, language)
		}
	}
	return l
}

// statement is a sentence, a row or a part of one as it is compared.
type statement struct {
	text       string
	terms      map[string]bool // stems of the words that say something
	context    map[string]bool // of the heading and the names of the columns
	quantities []quantity
	negated    bool
}

// statement reads a text. Its sets are shared with other readers of the same text.
func (l lexicon) statement(text string) statement {
	s, known := l.statements[text]
	if !known {
		s = l.readStatement(text)
		l.statements[text] = s
	}
	return s
}

func (l lexicon) readStatement(text string) statement {
	found := quantities(text)
	masked := []byte(text)
	for _, q := range found {
		for i := q.start; i < q.end; i++ {
			masked[i] = ' '
		}
	}
	return statement{text: text, terms: l.terms(string(masked)), quantities: found, negated: isNegated(text)}
}

// read reads a line with its heading and header.
func (l lexicon) read(x line) statement {
	s := l.statement(x.text)
	s.context = l.terms(x.heading + " " + x.header)
	return s
}

// terms returns the stems of the words of a text, without words of grammar and negations.
func (l lexicon) terms(text string) map[string]bool {
	terms := map[string]bool{}
	for rest := text; rest != ""; {
		part := rest
		if len(part) > longestPart { // words.Question reads no more of a text
			part = part[:cutPlace(part)]
		}
		rest = rest[len(part):]
		for _, t := range words.Question(part) {
			terms[t.Word] = true
		}
	}
	for word := range wordsOf(text) {
		for _, stem := range l.ignoredStems(word) {
			delete(terms, stem)
		}
	}
	if slices.Contains(l.languages, "deu") {
		return germanStems(terms)
	}
	return terms
}

// ignoredStems returns the stems of a word of grammar, a negation or a yes, none of another word.
func (l lexicon) ignoredStems(word string) []string {
	stems, known := l.ignored[word]
	if !known {
		if l.isGrammar(word) || negations[word] || answers[word] != 0 {
			for _, t := range words.Question(word) {
				stems = append(stems, t.Word)
			}
		}
		l.ignored[word] = stems
	}
	return stems
}

// longestPart is how many bytes of a text are read at a time, because words.Question reads 64 words.
const longestPart = 300

// cutPlace returns a place up to longestPart behind a space, or longestPart in a text without any.
func cutPlace(text string) int {
	at := longestPart
	if i := strings.LastIndexByte(text[:at], ' '); i > 0 {
		return i + 1
	}
	for at > 1 && text[at]&0xc0 == 0x80 {
		at--
	}
	return at
}

func (l lexicon) isGrammar(word string) bool {
	return slices.ContainsFunc(l.languages, func(language string) bool { return phrase.FunctionWord(word, language) })
}

// wordsOf yields the words of a text in lower case, as they are written.
func wordsOf(text string) iter.Seq[string] {
	text = strings.ReplaceAll(strings.ToLower(text), "’", "'")
	return strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsMark(r) && r != '\'' })
}

// union returns all elements of some sets.
func union(sets ...map[string]bool) map[string]bool {
	all := map[string]bool{}
	addAll(all, sets...)
	return all
}

func addAll(all map[string]bool, sets ...map[string]bool) {
	for _, set := range sets {
		maps.Copy(all, set)
	}
}

// covered returns which share of wanted is in one of some sets, 1 if nothing is wanted.
func covered(wanted map[string]bool, in ...map[string]bool) float64 {
	if len(wanted) == 0 {
		return 1
	}
	found := 0
	for element := range wanted {
		if slices.ContainsFunc(in, func(set map[string]bool) bool { return set[element] }) {
			found++
		}
	}
	return float64(found) / float64(len(wanted))
}
