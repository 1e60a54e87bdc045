package localmodel

import (
	"strings"
	"unicode"

	"github.com/cairn-rag/cairn/internal/model/protocol"
)

// question is what the user wants to know.
type question struct {
	text     string
	previous string             // the question before, if this one leans on it
	terms    map[string]float64 // stem -> how much it counts
	order    []string           // the stems in the order of the text
	length   int                // sentences that the answer may have
	detailed bool
	wants    wanted
}

// wanted is a kind of thing that a question asks for.
type wanted int

const (
	wantsAnything wanted = iota
	wantsNumber
	wantsName
)

// The number of sentences of an answer.
const (
	usualLength    = 3
	listLength     = 5
	detailedLength = 12
)

// leaning is how much the terms of the question before count in a question that
// leans on it.
const leaning = 0.5

// readQuestion takes the last question of a conversation.
func readQuestion(messages []protocol.Message) question {
	var asked []string
	for _, m := range messages {
		if m.Role == "user" && strings.TrimSpace(string(m.Content)) != "" {
			asked = append(asked, strings.TrimSpace(string(m.Content)))
		}
	}
	q := question{terms: map[string]float64{}, length: usualLength}
	if len(asked) == 0 {
		return q
	}
	q.text = asked[len(asked)-1]
	pronoun := q.addTerms(q.text, 1)
	if len(asked) > 1 && (pronoun && len(q.order) < 6 || len(q.order) < 2) {
		q.previous = asked[len(asked)-2]
		q.addTerms(q.previous, leaning)
	}
	q.readShape()
	return q
}

// search is the text to search for: a question that leans on the one before
// brings it along.
func (q question) search() string {
	if q.previous != "" {
		return q.previous + "\n" + q.text
	}
	return q.text
}

// addTerms adds the telling words of a text and reports whether it points at
// something that was said before.
func (q *question) addTerms(text string, weight float64) (pronoun bool) {
	w := words{text: text}
	for first := true; ; first = false {
		word, ok := w.next()
		if !ok {
			return pronoun
		}
		switch string(word) {
		case "it", "its", "they", "them", "their", "this", "these", "those", "he", "she", "him", "her", "his", "there", "same":
			pronoun = true
		case "and", "but", "also", "else", "more":
			pronoun = pronoun || first || string(word) == "else"
		}
		if stopWord(word) || requestWord(word) {
			continue
		}
		share := telling(word)
		if share == 0 {
			continue
		}
		term := string(stem(word))
		if _, known := q.terms[term]; !known {
			q.terms[term] = weight * share
			q.order = append(q.order, term)
		}
	}
}

// telling is the share of a word that is not grammar. In Japanese, hiragana mostly
// writes grammar, so a pair of characters counts by what else it has.
func telling(word []byte) float64 {
	var grammar, total float64
	for _, r := range string(word) {
		total++
		if unicode.Is(unicode.Hiragana, r) {
			grammar++
		}
	}
	return 1 - grammar/total
}

// readShape guesses from the question's words what its answer looks like.
func (q *question) readShape() {
	lower := " " + strings.Join(strings.Fields(strings.ToLower(q.text)), " ") + " "
	has := func(phrases ...string) bool {
		for _, p := range phrases {
			if strings.Contains(lower, p) {
				return true
			}
		}
		return false
	}
	switch {
	case has("in detail", "detailed", "at length", "thorough", "comprehensive", "step by step", "everything", "long answer", "in depth", "full explanation", "elaborate"):
		q.detailed, q.length = true, detailedLength
	case has("briefly", "in one sentence", "in short", "one word"):
		q.length = 1
	case has(" list ", " which ", " what are ", " steps ", " summar", " overview", " explain ", " describe ", " compare ", " difference"), strings.Count(q.text, "?") > 1:
		q.length = listLength
	}
	switch {
	case has(" how many ", " how much ", " how long ", " how often ", " how old ", " when ", " what year ", " what time ", " what percentage ", " how high ", " how fast ", " how large ", " how big "):
		q.wants = wantsNumber
	case has(" who ", " whom ", " whose "):
		q.wants = wantsName
	}
}
