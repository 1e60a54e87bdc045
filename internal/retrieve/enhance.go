package retrieve

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

//go:embed prompts/enhance.md
var enhancePrompt string

// The part of a conversation that the model reads to rewrite a question.
const (
	maxMessages     = 6
	maxMessageRunes = 1000
)

// enhance has the chat model rewrite the question so that it stands alone, without the
// conversation before it. The later stages search for that.
func (s *search) enhance(ctx context.Context) error {
	question, err := remembered(ctx, s, "enhance", func() (string, error) {
		arguments, err := s.ask(ctx, Call{
			System: enhancePrompt, User: conversation(s.request.History) + asked(s.request.Query),
			Tool: "rewrite_question", Description: "The question that stands alone.", Schema: object("question", map[string]any{"type": "string"}),
		})
		if err != nil {
			return "", err
		}
		var read struct {
			Question string `json:"question"`
		}
		if err := json.Unmarshal([]byte(arguments), &read); err != nil {
			return "", fmt.Errorf("read the question: %w", err)
		}
		if read.Question = line(read.Question, maxEmbeddedRunes); read.Question == "" {
			return "", errors.New("the question is empty")
		}
		if strings.Contains(read.Question, "<question>") { // the question alone stands for itself
			return "", errEcho
		}
		return read.Question, nil
	})
	if err != nil || question == s.request.Query {
		return err
	}
	s.choices.Question, s.request.Query = question, question
	return nil
}

// conversation returns the newest messages as they stand in the message to a chat model.
func conversation(history []knowledge.Message) string {
	if len(history) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("<conversation>\n")
	for _, m := range history[max(0, len(history)-maxMessages):] {
		fmt.Fprintf(&b, "%s: %s\n", m.Role, fence(truncate(m.Content, maxMessageRunes)))
	}
	b.WriteString("</conversation>\n")
	return b.String()
}
