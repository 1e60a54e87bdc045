package api

import (
	"slices"

	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

// answerNotice tells the reader of an answer how it was made.
type answerNotice struct {
	Code    string `json:"code" enum:"searched_by_words"`
	Message string `json:"message"`
}

// noticesOf returns the notices of an answer.
func noticesOf(answer record.Answer) []answerNotice {
	byWords := func(c retrieve.Choices) bool { return c.Failures["embeddings"] != "" }
	if !slices.ContainsFunc(answer.Searches, byWords) {
		return nil
	}
	return []answerNotice{{
		Code:    "searched_by_words",
		Message: "The documents were searched by their words alone, because the model that understands their meaning is not available. Ask again later for a fuller answer.",
	}}
}
