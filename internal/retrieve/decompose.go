package retrieve

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

//go:embed prompts/decompose.md
var decomposePrompt string

const (
	maxQuestions     = 4    // into which a question is decomposed
	maxQuestionRunes = 1000 // of one of them
)

// decompose has the chat model split a question that asks for several things.
func (s *search) decompose(ctx context.Context) error {
	questions, err := remembered(ctx, s, "decompose", func() ([]string, error) {
		arguments, err := s.ask(ctx, Call{
			System: decomposePrompt, User: asked(s.request.Query), Tool: "split_question", Description: "Split the question.",
			Schema: object("questions", map[string]any{"type": "array", "items": map[string]any{"type": "string"}, "maxItems": maxQuestions}),
		})
		if err != nil {
			return nil, err
		}
		var read struct {
			Questions []string `json:"questions"`
		}
		if err := json.Unmarshal([]byte(arguments), &read); err != nil {
			return nil, fmt.Errorf("read the questions: %w", err)
		}
		if slices.ContainsFunc(read.Questions, func(q string) bool { return strings.Contains(q, "<question>") }) {
			return nil, errEcho
		}
		return read.Questions, nil
	})
	if err != nil {
		return err
	}
	s.choices.Questions = otherQuestions(questions, s.request.Query)
	return nil
}

// otherQuestions returns questions that differ from each other and from the one that was
// asked. A single one says the same in other words, so it is left out.
func otherQuestions(questions []string, question string) []string {
	var other []string
	same := func(a string) func(string) bool { return func(b string) bool { return strings.EqualFold(a, b) } }
	for _, q := range questions {
		if q = line(q, maxQuestionRunes); q != "" && !strings.EqualFold(q, question) && !slices.ContainsFunc(other, same(q)) && len(other) < maxQuestions {
			other = append(other, q)
		}
	}
	if len(other) < 2 {
		return nil
	}
	return other
}
