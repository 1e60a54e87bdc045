package prompt

import _ "embed"

//go:embed suggestions.md
var suggestions string

// Suggestions returns the system prompt and the message that ask a model for questions
// that may come next.
func Suggestions(question, answer string) (system, user string) {
	return suggestions, "Question:\n" + question + "\n\nAnswer:\n" + answer
}
