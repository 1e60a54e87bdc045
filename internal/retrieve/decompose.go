package retrieve

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

//go:embed prompts/decompose.md
var decomposePrompt string

// The limits of a decomposition.
const (
	maxQuestions     = 4 // into which one question is split
	maxSplits        = 6 // calls of the model
	maxSplitDepth    = 3 // splits from the question to one of its parts
	maxParts         = 8 // in the end
	maxQuestionRunes = 1000
)

// part is a question within the question. A part that asks for several things itself is
// split again.
type part struct {
	Question string `json:"question"`
	Several  bool   `json:"several,omitempty"`
}

// decompose has the chat model split a question that asks for several things, and each of
// its parts that does.
func (s *search) decompose(ctx context.Context) error {
	parts, splits := []part{{s.request.Query, true}}, 0
	for depth := range maxSplitDepth {
		level, err := s.splitLevel(ctx, parts, &splits)
		if err != nil && depth == 0 {
			return err
		}
		parts = level // a part that could not be split stays whole
	}
	if len(parts) < 2 { // the question itself
		return nil
	}
	for _, p := range parts[:min(len(parts), maxParts)] {
		s.choices.Questions = append(s.choices.Questions, p.Question)
	}
	return nil
}

// splitLevel puts the parts of each question in its place, if it asks for several things,
// and counts the splits. It asks for all of them concurrently.
func (s *search) splitLevel(ctx context.Context, questions []part, splits *int) ([]part, error) {
	below := make([][]part, len(questions))
	errs := make([]error, len(questions))
	var calls sync.WaitGroup
	for i, q := range questions {
		if !q.Several || *splits == maxSplits {
			continue
		}
		*splits++
		step := fmt.Sprintf("split-%d", *splits)
		calls.Go(func() {
			below[i], errs[i] = remembered(ctx, s, step, func() ([]part, error) { return s.split(ctx, q.Question) })
		})
	}
	calls.Wait()
	var level []part
	same := func(p part) func(part) bool {
		return func(other part) bool { return strings.EqualFold(p.Question, other.Question) }
	}
	for i, q := range questions {
		q.Several = false
		if len(below[i]) == 0 {
			below[i] = []part{q}
		}
		for _, p := range below[i] {
			if !slices.ContainsFunc(level, same(p)) {
				level = append(level, p)
			}
		}
	}
	return level, errors.Join(errs...)
}

// split has the chat model split one question.
func (s *search) split(ctx context.Context, question string) ([]part, error) {
	arguments, err := s.ask(ctx, Call{
		System: decomposePrompt, User: asked(question), Tool: "split_question", Description: "Split the question.",
		Schema: object(
			"questions", map[string]any{"type": "array", "items": map[string]any{"type": "string"}, "maxItems": maxQuestions},
			"several", map[string]any{"type": "array", "items": map[string]any{"type": "integer", "minimum": 1}, "maxItems": maxQuestions}),
	})
	if err != nil {
		return nil, err
	}
	var read struct {
		Questions []string `json:"questions"`
		Several   []int    `json:"several"`
	}
	if err := json.Unmarshal([]byte(arguments), &read); err != nil {
		return nil, fmt.Errorf("read the questions: %w", err)
	}
	if slices.ContainsFunc(read.Questions, func(q string) bool { return strings.Contains(q, "<question>") }) {
		return nil, errEcho
	}
	var parts []part
	for i, q := range read.Questions {
		parts = append(parts, part{q, slices.Contains(read.Several, i+1)})
	}
	return otherQuestions(parts, question), nil
}

// otherQuestions returns questions that differ from each other and from the one that was
// asked. A single one says the same in other words, so it is left out.
func otherQuestions(parts []part, question string) []part {
	var other []part
	for _, p := range parts {
		p.Question = line(p.Question, maxQuestionRunes)
		known := slices.ContainsFunc(other, func(have part) bool { return strings.EqualFold(have.Question, p.Question) })
		if p.Question != "" && !strings.EqualFold(p.Question, question) && !known && len(other) < maxQuestions {
			other = append(other, p)
		}
	}
	if len(other) < 2 {
		return nil
	}
	return other
}
