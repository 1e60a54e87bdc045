package webhook

import (
	"encoding/json"
	"strings"
	"unicode"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// maxMessage bounds the message of an answer, in code points.
const maxMessage = 1000

// parseAnswer reads what a webhook for documents may answer. It returns nil if the
// answer says nothing of that.
func parseAnswer(body []byte) *knowledge.WebhookAnswer {
	var answer struct {
		Status string `json:"status"`
		Error  struct {
			Message string `json:"message"`
		} `json:"error"`
	}
	if json.Unmarshal(body, &answer) != nil {
		return nil
	}
	switch answer.Status {
	case knowledge.WebhookStatusSuccess:
		return &knowledge.WebhookAnswer{Status: answer.Status}
	case knowledge.WebhookStatusError:
		return &knowledge.WebhookAnswer{Status: answer.Status, Message: clean(answer.Error.Message)}
	}
	return nil
}

// clean bounds a message, and replaces what no terminal should be sent.
func clean(message string) string {
	message = strings.Map(func(c rune) rune {
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, strings.ToValidUTF8(message, "\uFFFD"))
	if runes := []rune(message); len(runes) > maxMessage {
		message = string(runes[:maxMessage]) + "…"
	}
	return strings.TrimSpace(message)
}
