package api

import (
	"context"
	"slices"

	"github.com/cairn-rag/cairn/internal/phrase"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

// answerNotice tells the reader of an answer how it was made.
type answerNotice struct {
	Code    string `json:"code" enum:"searched_by_words"`
	Message string `json:"message"`
}

// notices returns the notices of an answer, in the language of the question.
func (r *renderer) notices(ctx context.Context, answer record.Answer) ([]answerNotice, error) {
	byWords := func(c retrieve.Choices) bool { return c.Failures["embeddings"] != "" }
	if !slices.ContainsFunc(answer.Searches, byWords) {
		return nil, nil
	}
	request, err := r.request(ctx)
	if err != nil {
		return nil, err
	}
	return []answerNotice{{Code: "searched_by_words", Message: phrase.For(request.Question).SearchedByWords}}, nil
}
