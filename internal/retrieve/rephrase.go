package retrieve

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

//go:embed prompts/rephrase.md
var rephrasePrompt string

// rephrase has the chat model write the question in other ways. Documents that use other
// words than the question have the words of one of its phrasings.
func (s *search) rephrase(ctx context.Context) error {
	phrasings, err := remembered(ctx, s, "rephrase", func() ([]string, error) { return s.askPhrasings(ctx) })
	s.choices.Phrasings = phrasings
	return err
}

func (s *search) askPhrasings(ctx context.Context) ([]string, error) {
	n := s.request.Config.Phrasings
	arguments, err := s.ask(ctx, Call{
		System: rephrasePrompt, User: fmt.Sprintf("<phrasings>%d</phrasings>\n", n) + asked(s.request.Query),
		Tool: "rephrase_question", Description: "Write the question in other ways.",
		Schema: object("phrasings", map[string]any{"type": "array", "items": map[string]any{"type": "string"}, "maxItems": n}),
	})
	if err != nil {
		return nil, err
	}
	var read struct {
		Phrasings []string `json:"phrasings"`
	}
	if err := json.Unmarshal([]byte(arguments), &read); err != nil {
		return nil, fmt.Errorf("read the phrasings: %w", err)
	}
	var phrasings []string
	for _, q := range read.Phrasings {
		q = line(q, maxQuestionRunes)
		known := slices.ContainsFunc(phrasings, func(have string) bool { return strings.EqualFold(have, q) })
		if q != "" && !known && !s.isEcho(q) && len(phrasings) < n {
			phrasings = append(phrasings, q)
		}
	}
	if len(phrasings) == 0 {
		return nil, errors.New("the model wrote the question in no other way")
	}
	return phrasings, nil
}
