package evaluate

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/phrase"
)

// templates are the questions of the offline generator in one language.
type templates struct {
	cell    string // column, name of the row
	gap     string // a sentence with … for a number or date
	compare string // column, names of two rows
	more    string // name of the row with more, its value, the other one, its value
}

// templatesOf returns the templates for the language of a passage, English for one that has none.
func templatesOf(text string) templates {
	if phrase.Language(text) == "deu" {
		return templates{
			cell: "Was steht bei „%[2]s“ unter „%[1]s“?", gap: "Welche Zahl oder welches Datum fehlt hier: „%s“",
			compare: "Was hat den größeren Wert unter „%s“: „%s“ oder „%s“?", more: "%s mit %s; %s hat %s.",
		}
	}
	return templates{
		cell: "What is stated for “%[2]s” under “%[1]s”?", gap: "Which number or date is missing here: “%s”",
		compare: "Which has the greater value under “%s”: “%s” or “%s”?", more: "%s, with %s; %s has %s.",
	}
}

// Limits of the offline generator.
const (
	shortestGap = 5 // content words of a sentence with a gap
	longestGap  = 300
	longestName = 120 // code points of a cell that is the name of a row or a column
)

// GenerateOffline makes up to count questions without a model: from rows of tables, and from
// sentences that have a number or a date. It makes no unanswerable ones, because it cannot know what
// other documents say. The same passages and seed give the same questions.
func GenerateOffline(passages []Passage, count int, seed uint64) []Generated {
	byKind := map[Kind][]Generated{}
	for _, p := range passages {
		for _, g := range generateFrom(p) {
			byKind[g.Item.Kind] = append(byKind[g.Item.Kind], g)
		}
	}
	random := rand.New(rand.NewPCG(seed, uint64(len(passages))))
	for _, kind := range GeneratedKinds() {
		byKind[kind] = WithoutDuplicates(byKind[kind])
		random.Shuffle(len(byKind[kind]), func(i, j int) { byKind[kind][i], byKind[kind][j] = byKind[kind][j], byKind[kind][i] })
	}
	list := []Generated{}
	for turn := 0; len(list) < count; turn++ {
		before := len(list)
		for _, kind := range GeneratedKinds() {
			if turn < len(byKind[kind]) && len(list) < count {
				list = append(list, byKind[kind][turn])
			}
		}
		if len(list) == before {
			break
		}
	}
	return list
}

// generateFrom returns the questions that can be made from a passage.
func generateFrom(p Passage) []Generated {
	t := templatesOf(p.whole())
	var list []Generated
	var rows []line
	for _, x := range linesOf(p.whole()) {
		switch {
		case !x.row:
			list = append(list, gaps(p, t, x)...)
			continue
		case len(rows) > 0 && rows[0].header != x.header:
			list = append(list, cells(p, t, rows)...)
			rows = nil
		}
		rows = append(rows, x)
	}
	return append(list, cells(p, t, rows)...)
}

// emphasis is the signs of Markdown around words.
var emphasis = strings.NewReplacer("**", "", "__", "", "`", "")

// gaps returns the question for the number or date of a sentence that has one only.
func gaps(p Passage, t templates, x line) []Generated {
	x.text = emphasis.Replace(x.text)
	s := newLexicon(x.text).statement(x.text)
	last, _ := utf8.DecodeLastRuneInString(x.text)
	if len(s.quantities) != 1 || len(s.terms) < shortestGap || len(x.text) > longestGap || !strings.ContainsRune(".!。", last) {
		return nil
	}
	q := s.quantities[0]
	question := fmt.Sprintf(t.gap, x.text[:q.start]+"…"+x.text[q.number:])
	return []Generated{generated(Item{Question: question, Reference: x.text, Kind: KindFact}, p)}
}

// cells returns the questions for the cells of a table whose first column names its rows.
func cells(p Passage, t templates, rows []line) []Generated {
	if len(rows) == 0 {
		return nil
	}
	header := cellsOf(rows[0].header)
	table := namedRows(header, rows)
	var list []Generated
	for i, row := range table {
		for column := 1; column < len(header); column++ {
			if isColumn(header[column]) && row[column] != "" {
				question := fmt.Sprintf(t.cell, header[column], row[0])
				list = append(list, generated(Item{Question: question, Reference: header[column] + ": " + row[column], Kind: KindTable}, p))
			}
			if i > 0 && isColumn(header[column]) {
				list = append(list, comparison(p, t, header[column], table[i-1], row, column)...)
			}
		}
	}
	return list
}

// namedRows returns the cells of the rows, nil if the first cell of one is missing or not its own.
func namedRows(header []string, rows []line) [][]string {
	var table [][]string
	names := map[string]bool{}
	for _, x := range rows {
		row := cellsOf(x.text)
		if len(row) != len(header) || !isName(row[0]) || names[row[0]] {
			return nil
		}
		names[row[0]] = true
		table = append(table, row)
	}
	return table
}

func isName(cell string) bool {
	return strings.ContainsFunc(cell, unicode.IsLetter) && utf8.RuneCountInString(cell) <= longestName
}

// isColumn reports whether the name of a column can be asked for.
func isColumn(name string) bool { return isName(name) && len(quantities(name)) == 0 }

// comparison returns the question which of two rows has more in a column, if both have one number
// of the same unit there.
func comparison(p Passage, t templates, column string, first, second []string, at int) []Generated {
	a, b := quantities(first[at]), quantities(second[at])
	if len(a) != 1 || len(b) != 1 || !a[0].comparable(b[0]) || len(a[0].values) != 1 || len(b[0].values) != 1 || a[0].values[0] == b[0].values[0] {
		return nil
	}
	more, less := first, second
	if b[0].values[0] > a[0].values[0] {
		more, less = second, first
	}
	item := Item{
		Question:  fmt.Sprintf(t.compare, column, first[0], second[0]),
		Reference: fmt.Sprintf(t.more, more[0], more[at], less[0], less[at]), Kind: KindComparison,
	}
	return []Generated{generated(item, p)}
}
