package prompt

import (
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
)

// charactersPerToken estimates the length of a text in tokens without loading
// a vocabulary; it errs on the safe side for European languages.
const charactersPerToken = 3

// History keeps the newest messages of a conversation that fit the limits. It
// starts with a user's message, so that no answer stands without its question.
func History(messages []model.Message, limits knowledge.HistoryConfig) []model.Message {
	keep := len(messages)
	if limits.Messages != nil {
		keep = min(keep, *limits.Messages)
	}
	messages = messages[len(messages)-keep:]
	budget := limits.Tokens * charactersPerToken
	start := len(messages)
	for start > 0 {
		budget -= utf8.RuneCountInString(messages[start-1].Content)
		if limits.Tokens > 0 && budget < 0 {
			break
		}
		start--
	}
	for start < len(messages) && messages[start].Role != "user" {
		start++
	}
	return messages[start:]
}
