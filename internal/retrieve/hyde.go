package retrieve

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
)

//go:embed prompts/hyde.md
var hydePrompt string

// maxHypothesis bounds a hypothetical passage, in code points.
const maxHypothesis = 2000

// hyde has the chat model write a passage that would answer the question. Its vector is
// nearer to the vectors of real answers than the question's own (hypothetical document
// embeddings). Nobody reads the passage as an answer.
func (s *search) hyde(ctx context.Context) error {
	if !s.searchesByVector() {
		return nil
	}
	passage, err := remembered(ctx, s, "hyde", func() (string, error) {
		arguments, err := s.ask(ctx, Call{
			System: hydePrompt, User: asked(s.request.Query), Tool: "write_passage", Description: "Write the passage.",
			Schema: object("passage", map[string]any{"type": "string"}),
		})
		if err != nil {
			return "", err
		}
		var read struct {
			Passage string `json:"passage"`
		}
		if err := json.Unmarshal([]byte(arguments), &read); err != nil {
			return "", fmt.Errorf("read the passage: %w", err)
		}
		if read.Passage = line(read.Passage, maxHypothesis); read.Passage == "" {
			return "", errors.New("the passage is empty")
		}
		if s.isEcho(read.Passage) {
			return "", errEcho
		}
		return read.Passage, nil
	})
	s.choices.Passage = passage
	return err
}
