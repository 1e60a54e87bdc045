package chunk

import "strings"

// Sentences returns the sentences of a paragraph in their order, without the white space around
// them. An abbreviation ends none.
func Sentences(paragraph string) []string {
	runes := []rune(paragraph)
	var out []string
	start := 0
	for _, end := range sentenceEnds(runes) {
		if sentence := strings.TrimSpace(string(runes[start:end])); sentence != "" {
			out = append(out, sentence)
		}
		start = end
	}
	return out
}
