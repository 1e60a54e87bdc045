package localmodel

import (
	"strings"
	"unicode"

	"github.com/cairn-rag/cairn/internal/model/protocol"
	"github.com/cairn-rag/cairn/internal/phrase"
)

// question is the user's question.
type question struct {
	text     string
	previous string             // the previous question, if this one refers to it
	terms    map[string]float64 // stem -> weight
	order    []string           // the stems in the order of the text
	words    []string           // the words of the stems
	subject  []string           // the words without grammar, as they are written
	length   int                // largest number of sentences in the answer
	detailed bool
	wants    wanted
}

// wanted is the kind of answer that a question asks for.
type wanted int

const (
	wantsAnything wanted = iota
	wantsNumber
	wantsName
)

// Numbers of sentences in an answer.
const (
	usualLength    = 3
	listLength     = 5
	detailedLength = 12
)

// previousWeight is the weight of the previous question's terms in a question
// that refers to it.
const previousWeight = 0.5

// readQuestion returns the last question of a conversation.
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
		q.addTerms(q.previous, previousWeight)
	}
	q.readShape()
	return q
}

// search returns the text to search for. It includes the previous question if
// this one refers to it.
func (q question) search() string {
	if q.previous != "" {
		return q.previous + "\n" + q.text
	}
	return q.text
}

// addTerms adds the significant words of a text and reports whether the text
// refers to something said before.
func (q *question) addTerms(text string, weight float64) (pronoun bool) {
	w := words{text: text}
	about := subject{text: text, language: phrase.Language(text)}
	for first := true; ; first = false {
		word, ok := w.next()
		if !ok {
			q.subject = append(q.subject, about.words...)
			return pronoun
		}
		switch {
		case referring[string(word)]:
			pronoun = true
		case opening[string(word)]:
			pronoun = pronoun || first || string(word) == "else"
		}
		if stopWord(word) || requestWord(word) {
			continue
		}
		share := nonGrammarShare(word)
		if share == 0 {
			continue
		}
		rarity := readMeanings().rarity(word)
		term := string(stem(word))
		if _, ok := q.terms[term]; !ok {
			q.terms[term] = weight * share * rarity
			q.order, q.words = append(q.order, term), append(q.words, text[w.start:w.end])
			about.add(w.start, w.end, rarity)
		}
	}
}

// nonGrammarShare returns the share of a word that is not grammar. In Japanese,
// hiragana mostly write grammar, so a pair of characters counts by its other
// characters.
func nonGrammarShare(word []byte) float64 {
	var grammar, total float64
	for _, r := range string(word) {
		total++
		if unicode.Is(unicode.Hiragana, r) {
			grammar++
		}
	}
	return 1 - grammar/total
}

// readShape guesses from the question's words the length and kind of its
// answer.
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
