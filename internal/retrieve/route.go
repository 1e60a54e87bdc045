package retrieve

import (
	"strings"
	"unicode"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// maxLookup is the largest number of words of a question that looks up a name.
const maxLookup = 4

// route chooses the strategy by the question, if the project has that on. A question that
// looks up an identifier or a quoted phrase is searched by words alone, because a vector
// says little of either. Several questions in one are decomposed. All others keep the
// strategy of the project.
func (s *search) route() {
	if !s.request.Config.Route {
		return
	}
	question := s.request.Query
	words := strings.Fields(question)
	names := 0
	for _, w := range words {
		if isIdentifier(w) {
			names++
		}
	}
	trimmed := strings.TrimRight(strings.TrimSpace(question), "?.! ")
	quoted := len(trimmed) > 2 && strings.ContainsAny(trimmed[:1], `"'`) && trimmed[0] == trimmed[len(trimmed)-1]
	switch {
	case quoted, len(words) <= maxLookup && 2*names >= len(words):
		s.request.Config.Strategy = knowledge.StrategyBM25
		s.choices.Strategy = knowledge.StrategyBM25
	case strings.Count(question, "?")+strings.Count(question, "？")+strings.Count(question, "؟") > 1:
		s.several = true
	}
	if s.choices.Strategy == "" {
		s.choices.Strategy = s.request.Config.Strategy
	}
}

// isIdentifier reports whether a word is a code or a name of code: letters with digits or
// an underscore, as E-505, v2.4.2 and user_id, or with a capital behind a small letter, as
// getUserById.
func isIdentifier(word string) bool {
	word = strings.TrimFunc(word, func(r rune) bool { return unicode.IsPunct(r) && r != '_' })
	letters, digits, humps := 0, 0, 0
	var before rune
	for _, r := range word {
		switch {
		case unicode.IsLetter(r):
			letters++
		case unicode.IsDigit(r):
			digits++
		}
		if unicode.IsUpper(r) && unicode.IsLower(before) {
			humps++
		}
		before = r
	}
	return letters > 0 && (digits > 0 || humps > 0 || strings.Contains(word, "_") || strings.Contains(word, "::"))
}
