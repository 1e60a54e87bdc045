package evaluate

import "strings"

// germanEndings are endings of German words, longer ones before their ends.
var germanEndings = []string{"ern", "em", "en", "er", "es", "et", "e", "n", "s", "t"}

const (
	leastInflected = 6 // letters of a German word whose ending is removed
	leastStem      = 4 // letters that are left
)

// germanStems returns words without the endings of German words and the ge of their participles, which the
// words of an index keep: an answer says öffnen where its reference says geöffnet.
func germanStems(terms map[string]bool) map[string]bool {
	stems := make(map[string]bool, len(terms))
	for term := range terms {
		stems[germanStem(term)] = true
	}
	return stems
}

// germanStem returns a word in lower case without accents without its ending.
func germanStem(word string) string {
	if len(word) < leastInflected || strings.ContainsAny(word, "0123456789_") {
		return word
	}
	for _, ending := range germanEndings {
		stem, ok := strings.CutSuffix(word, ending)
		if !ok || len(stem) < leastStem {
			continue
		}
		participle, ge := strings.CutPrefix(stem, "ge")
		if ge && len(participle) >= leastStem && (ending == "t" || ending == "et" || ending == "en") {
			return participle
		}
		return stem
	}
	return word
}
