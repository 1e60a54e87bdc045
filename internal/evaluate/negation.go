package evaluate

import (
	"regexp"
	"slices"
	"strings"
)

// negations are words that turn a statement around, in English, German, French, Spanish, Italian,
// Portuguese and Dutch. Words that another of these languages uses for something else are left out.
var negations = func() map[string]bool {
	table := map[string]bool{}
	for word := range strings.FieldsSeq(`not no never none nobody nothing neither nor without cannot
		nicht nie niemals niemand nichts ohne weder kein keine keinen keinem keiner keines
		ne pas jamais aucun aucune sans ni nunca ningún ninguna ninguno tampoco mai nessun nessuno nessuna senza
		não nenhum nenhuma sem niet geen nooit niemand zonder`) {
		table[word] = true
	}
	return table
}()

// isNegated reports whether a text has a negation. The No. of a number is none.
func isNegated(text string) bool {
	for word := range wordsOf(numberSign.ReplaceAllString(text, "")) {
		if negations[word] || strings.HasSuffix(word, "n't") {
			return true
		}
	}
	return false
}

var numberSign = regexp.MustCompile(`\b[Nn]o\.\s?\d`)

// clauseEnd matches the ends of the clauses of a sentence.
var clauseEnd = regexp.MustCompile(`[,;:–—()|]\s|\s(?:but|aber|sondern|mais|pero|maar)\s`)

// clauses returns the clauses of a sentence that say something.
func (l lexicon) clauses(sentence string) []statement {
	list, known := l.parts[sentence]
	if known {
		return list
	}
	start := 0
	add := func(end int) {
		if s := l.readStatement(strings.TrimSpace(sentence[start:end])); len(s.terms) >= leastClause {
			list = append(list, s)
		}
	}
	for _, m := range clauseEnd.FindAllStringIndex(sentence, -1) {
		add(m[0])
		start = m[1]
	}
	add(len(sentence))
	l.parts[sentence] = list
	return list
}

// leastClause is how many words a clause has whose negation is compared.
const leastClause = 2

// clauseCover is the share of the words of the shorter of two clauses that the other one has, from
// which on they say the same but for a negation.
const clauseCover = 0.75

// opposes reports whether a statement is the opposite of another: only one of both is negated, a clause
// of it has the words of a clause of the other one and only one of these is negated, and no clause of
// the other agrees with it.
func (l lexicon) opposes(a, b statement) bool {
	if a.negated == b.negated {
		return false
	}
	others := l.clauses(b.text)
	return slices.ContainsFunc(l.clauses(a.text), func(mine statement) bool { return mine.opposesOne(others) })
}

// opposesOne reports whether a clause is the opposite of one of some clauses and agrees with none.
func (s statement) opposesOne(others []statement) bool {
	opposed := false
	for _, other := range others {
		if max(covered(s.terms, other.terms), covered(other.terms, s.terms)) < clauseCover {
			continue
		}
		if s.negated == other.negated {
			return false
		}
		opposed = true
	}
	return opposed
}
