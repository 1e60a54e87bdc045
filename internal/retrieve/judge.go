package retrieve

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
)

//go:embed prompts/judge.md
var judgePrompt string

const (
	gradedTogether = 10   // passages of one call
	maxGradedRunes = 2000 // of a passage
	maxGrade       = 10
)

// judge returns the grades of the chat model by chunk id, between 0 and 1. It grades
// several lists of passages concurrently.
func (s *search) judge(ctx context.Context, pool []Context) (map[string]float64, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	scores := make(map[string]float64, len(pool))
	var mu sync.Mutex
	var calls sync.WaitGroup
	for first := 0; first < len(pool); first += gradedTogether {
		part := pool[first:min(first+gradedTogether, len(pool))]
		calls.Go(func() {
			grades, err := s.grade(ctx, part)
			if err != nil {
				cancel(err) // the other grades are of no use
				return
			}
			mu.Lock()
			defer mu.Unlock()
			for i, c := range part {
				scores[c.ID] = grades[i]
			}
		})
	}
	calls.Wait()
	return scores, context.Cause(ctx)
}

// grade returns the grades of a few passages, between 0 and 1.
func (s *search) grade(ctx context.Context, passages []Context) ([]float64, error) {
	var user strings.Builder
	fmt.Fprintf(&user, "<question>\n%s\n</question>\n", fence(truncate(s.request.Query, maxGradedRunes)))
	for i, c := range passages {
		fmt.Fprintf(&user, "<passage number=\"%d\">\n%s\n</passage>\n", i+1, fence(truncate(withHeader(c.Chunk), maxGradedRunes)))
	}
	arguments, err := s.ask(ctx, Call{
		System: judgePrompt, User: user.String(), Tool: "grade_passages", Description: "Grade each passage.",
		Schema: object("grades", map[string]any{
			"type": "array", "items": map[string]any{"type": "integer", "minimum": 0, "maximum": maxGrade}, "minItems": len(passages), "maxItems": len(passages),
		}),
	})
	if err != nil {
		return nil, err
	}
	var read struct {
		Grades []float64 `json:"grades"`
	}
	if err := json.Unmarshal([]byte(arguments), &read); err != nil {
		return nil, fmt.Errorf("read the grades: %w", err)
	}
	if len(read.Grades) != len(passages) {
		return nil, fmt.Errorf("%d grades for %d passages", len(read.Grades), len(passages))
	}
	for i, g := range read.Grades {
		read.Grades[i] = min(max(g, 0), maxGrade) / maxGrade
	}
	return read.Grades, nil
}

// object returns the JSON schema of an object with required properties, given as
// alternating names and schemas.
func object(properties ...any) json.RawMessage {
	named, required := map[string]any{}, []string{}
	for i := 0; i+1 < len(properties); i += 2 {
		name := properties[i].(string)
		named[name], required = properties[i+1], append(required, name)
	}
	schema, _ := json.Marshal(map[string]any{"type": "object", "properties": named, "required": required, "additionalProperties": false}) // it always marshals
	return schema
}

// fence keeps a text from closing the tags around it.
func fence(s string) string { return strings.ReplaceAll(s, "</", "<\u200a/") }
