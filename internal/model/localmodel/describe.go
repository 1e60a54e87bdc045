package localmodel

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// describeTool is the name of the tool by which a document is described. Its
// arguments are extracted from the document: the first sentences, the most frequent
// words, and the words in upper case.
const describeTool = "describe_document"

// placeTool is the name of the tool that places passages in their document.
const placeTool = "place_passages"

const (
	summarySentences = 2
	describedTopics  = 8
	describedTags    = 4
)

var documentTag = regexp.MustCompile(`(?s)^<document[^>]*>\n(.*)\n</document>`)

// describeDocument returns the arguments of describeTool for the user's last message.
func describeDocument(message string) string {
	text := message
	if found := documentTag.FindStringSubmatch(message); found != nil {
		text = found[1]
	}
	topics := frequentWords(text)
	described := struct {
		Summary  string   `json:"summary"`
		Topics   []string `json:"topics"`
		Entities []string `json:"entities"`
		Tags     []string `json:"tags"`
	}{firstSentences(text), topics, entities(text), topics[:min(len(topics), describedTags)]}
	b, err := json.Marshal(described)
	if err != nil {
		return "{}" // texts and lists always marshal
	}
	return string(b)
}

var (
	aboutTag   = regexp.MustCompile(`(?s)^<document name="([^"]*)">\n(.*?)\n</document>`)
	passageTag = regexp.MustCompile(`(?m)^<passage number="\d+">$`)
)

// placePassages returns the arguments of placeTool for the user's last message. Every
// sentence names the document and what it is about.
func placePassages(message string) string {
	count := len(passageTag.FindAllString(message, -1))
	sentences := make([]string, count)
	about := aboutTag.FindStringSubmatch(message)
	for i := range sentences {
		if about != nil {
			sentences[i] = fmt.Sprintf("Passage %d of %d is from %s: %s", i+1, count, about[1], about[2])
		}
	}
	b, err := json.Marshal(map[string][]string{"sentences": sentences})
	if err != nil {
		return "{}" // texts and lists always marshal
	}
	return string(b)
}

// firstSentences returns the first whole sentences of a text.
func firstSentences(text string) string {
	var kept []string
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		for _, sentence := range cutSentences(strings.Join(strings.Fields(paragraph), " ")) {
			if endsLikeSentence(sentence) && len(sentence) <= maxPassage {
				kept = append(kept, sentence)
			}
			if len(kept) == summarySentences {
				return strings.Join(kept, " ")
			}
		}
	}
	return strings.Join(kept, " ")
}

// frequentWords returns the words that occur most often, at least twice, without
// words of hardly any meaning.
func frequentWords(text string) []string {
	counts := map[string]int{}
	w := words{text: text}
	for {
		word, ok := w.next()
		if !ok {
			break
		}
		if r, _ := utf8.DecodeRune(word); len(word) > 2 && unicode.IsLetter(r) && !stopWord(word) {
			counts[string(word)]++
		}
	}
	var list []string
	for word, n := range counts {
		if n > 1 {
			list = append(list, word)
		}
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(counts[b]-counts[a], strings.Compare(a, b)) })
	return list[:min(len(list), describedTopics)]
}

var capitalised = regexp.MustCompile(`\p{Lu}[\p{L}\p{N}&.-]+(?: \p{Lu}[\p{L}\p{N}&.-]+)*`)

// entities returns the sequences of words in upper case that do not begin a sentence.
func entities(text string) []string {
	var list []string
	for _, at := range capitalised.FindAllStringIndex(text, -1) {
		before := strings.TrimRight(text[:at[0]], " ")
		last, _ := utf8.DecodeLastRuneInString(before)
		name := strings.TrimRight(text[at[0]:at[1]], ".-")
		if before != "" && !strings.ContainsRune(".!?:\n#*|-", last) && !slices.Contains(list, name) {
			list = append(list, name)
		}
		if len(list) == describedTopics {
			break
		}
	}
	return list
}
