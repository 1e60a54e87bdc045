package prompt

import (
	"unicode"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// History keeps the newest messages of a conversation that have at most so many
// tokens together. It starts with a user's message, so that no answer stands
// without its question.
func History(messages []knowledge.Message, limit int) []knowledge.Message {
	start := len(messages)
	for start > 0 {
		if limit -= tokens(messages[start-1].Content); limit < 0 {
			break
		}
		start--
	}
	for start < len(messages) && messages[start].Role != "user" {
		start++
	}
	return messages[start:]
}

// tokens estimates how many tokens a model makes of text, without its
// vocabulary, which takes long to load: a quarter for a character of ASCII, a
// half for one of another alphabet, one for one of Korean or a script without spaces. The
// estimate is within a fifth of the real number for prose.
func tokens(text string) int {
	quarters := 0
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf:
			quarters++
		case knowledge.Unspaced(r), unicode.Is(unicode.Hangul, r):
			quarters += 4
		default:
			quarters += 2
		}
	}
	return (quarters + 3) / 4
}
