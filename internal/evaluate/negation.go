package evaluate

import (
	"iter"
	"regexp"
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
var clauseEnd = regexp.MustCompile(`[,;:–—()]\s|\s(?:but|aber|sondern|mais|pero|maar)\s`)

// clauses yields the clauses of a sentence.
func clauses(sentence string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start := 0
		for _, m := range clauseEnd.FindAllStringIndex(sentence, -1) {
			if !yield(strings.TrimSpace(sentence[start:m[0]])) {
				return
			}
			start = m[1]
		}
		yield(strings.TrimSpace(sentence[start:]))
	}
}

// leastClause is how many words a clause has whose negation is compared.
const leastClause = 2

// clauseCover is the share of the words of the shorter of two clauses that the other one has, from
// which on they say the same but for a negation.
const clauseCover = 0.75

// opposes reports whether a statement is the opposite of another: a clause of it has the words of a
// clause of the other one and only one of both is negated, and no clause of the other agrees with it.
func (l lexicon) opposes(a, b statement) bool {
	if !a.negated && !b.negated {
		return false
	}
	for clause := range clauses(a.text) {
		mine := l.statement(clause)
		if len(mine.terms) < leastClause {
			continue
		}
		if l.clauseOpposes(mine, b.text) {
			return true
		}
	}
	return false
}

// clauseOpposes compares a clause with those of a sentence.
func (l lexicon) clauseOpposes(mine statement, sentence string) bool {
	opposed := false
	for clause := range clauses(sentence) {
		other := l.statement(clause)
		if len(other.terms) < leastClause || max(covered(mine.terms, other.terms), covered(other.terms, mine.terms)) < clauseCover {
			continue
		}
		if mine.negated == other.negated {
			return false
		}
		opposed = true
	}
	return opposed
}
