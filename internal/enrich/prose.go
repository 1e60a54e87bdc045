package enrich

import (
	"strings"
	"unicode"

	"github.com/abadojack/whatlanggo"
)

// sentenceWords is from how many words on a cell of a table counts as prose.
const sentenceWords = 5

// prose returns a text without the short cells of its tables: names and units are a poor
// proof of a language.
func prose(text string) string {
	if !strings.Contains(text, "| ") {
		return text
	}
	var out strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "|") && !strings.Contains(line, " | ") {
			out.WriteString(line)
			continue
		}
		for cell := range strings.SplitSeq(line, "|") {
			if len(strings.Fields(cell)) >= sentenceWords {
				out.WriteString(strings.TrimSpace(cell) + "\n")
			}
		}
	}
	return out.String()
}

// detectProse returns the language of a text by its prose. If there is too little of it,
// the script of the tables decides, where it is not Latin.
func detectProse(text string, most int, options whatlanggo.Options) string {
	own := prose(text)
	code := detect(beginning(own, most), options)
	if code != Undetermined || len(own) == len(text) {
		return code
	}
	sample := beginning(text, most)
	letters, latin := 0, 0
	for _, r := range sample {
		if unicode.IsLetter(r) {
			letters++
		}
		if unicode.Is(unicode.Latin, r) {
			latin++
		}
	}
	if 2*latin >= letters {
		return Undetermined
	}
	return detect(sample, options)
}
