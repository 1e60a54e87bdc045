package enrich

import "strings"

// englishWords make up a fifth of the words of English prose. Other languages have
// some of them, as Dutch has "of" and "was", and none has them so often.
var englishWords = [...]string{"the", "of", "and", "to", "that", "with", "which", "from", "this", "are", "was", "for"}

// A sample is English without a further look if at least one in englishShare of its
// words is one of englishWords, and so many different ones of them occur. In a text
// that is half English the share is too low.
const (
	englishShare    = 6
	englishDistinct = 3
)

// isEnglish reports whether a sample is beyond doubt English. That takes a twentieth of
// the time of comparing it with all languages.
func isEnglish(sample []rune) bool {
	words, own := 0, 0
	var seen [len(englishWords)]bool
	for start := 0; start < len(sample); {
		end := start
		for end < len(sample) && sample[end]|0x20 >= 'a' && sample[end]|0x20 <= 'z' {
			end++
		}
		if n := englishWord(sample[start:end]); n >= 0 {
			own++
			seen[n] = true
		}
		if end > start {
			words++
		}
		start = end + 1
	}
	distinct := 0
	for _, there := range seen {
		if there {
			distinct++
		}
	}
	return own*englishShare >= words && distinct >= englishDistinct
}

// englishWord returns the place of a word in englishWords, -1 if it is none of them.
func englishWord(word []rune) int {
	for n, english := range englishWords {
		if len(word) != len(english) {
			continue
		}
		same := true
		for i, r := range word {
			same = same && r|0x20 == rune(english[i])
		}
		if same {
			return n
		}
	}
	return -1
}

// questionWords are words of English questions that are rare in other languages.
var questionWords = map[string]bool{
	"what": true, "which": true, "how": true, "where": true, "when": true, "why": true, "who": true, "does": true, "should": true,
	"would": true, "could": true, "the": true, "that": true, "and": true, "with": true, "from": true, "this": true, "there": true,
	"their": true, "they": true, "were": true, "been": true, "because": true, "before": true, "after": true, "between": true, "about": true,
	"through": true, "into": true, "than": true, "your": true,
}

// A question is English without a further look if at least one in questionShare of its
// words is one of questionWords, and so many of them occur.
const (
	questionShare = 5
	questionOwn   = 2
)

// asksInEnglish reports whether a question of several words is beyond doubt English. Most
// are too short for isEnglish, and to compare one with all languages takes fifty times
// as long.
func asksInEnglish(question string) bool {
	words, own := 0, 0
	for word := range strings.FieldsSeq(question) {
		words++
		if questionWords[strings.ToLower(strings.Trim(word, `?.,;:!"'()`))] {
			own++
		}
	}
	return words >= shortWords && own >= questionOwn && own*questionShare >= words
}
