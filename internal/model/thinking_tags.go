package model

import "strings"

// The tags around reasoning: those of XML, of Mistral, and the channels of gpt-oss.
var (
	opensThinking = append(xmlTags("<"), "[THINK]", "<|channel|>analysis<|message|>", "<|start|>assistant<|channel|>analysis<|message|>")
	endsThinking  = append(xmlTags("</"), "[/THINK]", "<|end|>")
	// opensAnswer are tags that stand before the answer itself.
	opensAnswer = []string{"<|channel|>final<|message|>", "<|start|>assistant<|channel|>final<|message|>"}
)

func xmlTags(before string) (tags []string) {
	for _, name := range []string{"think", "thinking", "thought", "thoughts", "reasoning", "reason", "seed:think"} {
		tags = append(tags, before+name+">")
	}
	return tags
}

// space is what may stand before a tag.
const space = " \t\r\n\f\v"

// leadingTag returns how many bytes of a text are white space and one of the tags, 0 if it does not
// begin so.
func leadingTag(text string, tags []string) int {
	rest := strings.TrimLeft(text, space)
	if n := tagLength(rest, tags); n > 0 {
		return len(text) - len(rest) + n
	}
	return 0
}

// tagLength returns the length of the tag that a text begins with, 0 if it begins with none of them.
func tagLength(text string, tags []string) int {
	for _, tag := range tags {
		if len(text) >= len(tag) && isTag(text[:len(tag)], tag) {
			return len(tag)
		}
	}
	return 0
}

// isTag reports whether a text is a tag or a part of one: in letters of any case, but for brackets,
// which answers have too.
func isTag(text, tag string) bool {
	return text == tag || strings.EqualFold(text, tag) && !strings.HasPrefix(tag, "[")
}

// mayBeTag reports whether a text is white space and the beginning of a tag before an answer.
func mayBeTag(text string) bool {
	rest := strings.TrimLeft(text, space)
	for _, tags := range [][]string{opensThinking, opensAnswer} {
		for _, tag := range tags {
			if len(rest) < len(tag) && isTag(rest, tag[:len(rest)]) {
				return true
			}
		}
	}
	return false
}

// endOfThinking returns where the first tag stands that ends reasoning, and where it ends; -1 if
// there is none.
func endOfThinking(text string) (at, end int) {
	for at := range len(text) {
		if text[at] != '<' && text[at] != '[' {
			continue
		}
		if n := tagLength(text[at:], endsThinking); n > 0 {
			return at, at + n
		}
	}
	return -1, -1
}

// cutTag returns how many bytes at the end of a text may be the beginning of a tag that ends
// reasoning.
func cutTag(text string) int {
	most := 0
	for _, tag := range endsThinking {
		for n := min(len(tag)-1, len(text)); n > most; n-- {
			if isTag(text[len(text)-n:], tag[:n]) {
				most = n
			}
		}
	}
	return most
}
