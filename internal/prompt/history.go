package prompt

import (
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// History keeps the newest messages of a conversation that have at most so many
// tokens together. It starts with a user's message, so that no answer stands
// without its question.
func History(messages []knowledge.Message, limit int) []knowledge.Message {
	start := len(messages)
	for start > 0 {
		if limit -= knowledge.EstimateTokens(messages[start-1].Content); limit < 0 {
			break
		}
		start--
	}
	for start < len(messages) && messages[start].Role != "user" {
		start++
	}
	return messages[start:]
}
