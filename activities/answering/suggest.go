package answering

import (
	"context"
	"fmt"
	"strings"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/prompt"
	"github.com/cairn-rag/cairn/internal/record"
)

const (
	// maxSuggestions bounds the questions that are suggested.
	maxSuggestions = 3
	// maxSuggestion bounds one of them, in code points.
	maxSuggestion = 300
)

// Suggesting holds the activity that suggests the next questions.
type Suggesting struct {
	stepLog

	Blobs step.Blobs
	chats *chats
}

// SuggestInput names an answer.
type SuggestInput struct {
	knowledge.RunRef
	Answer string `json:"answer"` // blob of the model call that returned it
}

// SuggestResult names the questions that may come next.
type SuggestResult struct {
	Key   string          `json:"key"` // blob of the Suggestions
	Usage knowledge.Usage `json:"usage"`
}

// Suggestions are questions that may come next.
type Suggestions struct {
	Questions []string        `json:"questions"`
	Usage     knowledge.Usage `json:"usage"`
}

// SuggestQuestions asks the chat model what the user may want to ask next. It makes no call
// whose result is stored.
func (a *Suggesting) SuggestQuestions(ctx context.Context, in SuggestInput) (SuggestResult, error) {
	defer step.Heartbeat(ctx)()
	suggested, err := step.Stored(ctx, a.Blobs, in.SuggestionsKey(), func() (Suggestions, error) { return a.suggest(ctx, in) })
	if err != nil {
		return SuggestResult{}, a.fail(ctx, in.RunRef, err)
	}
	return SuggestResult{in.SuggestionsKey(), suggested.Usage}, nil
}

func (a *Suggesting) suggest(ctx context.Context, in SuggestInput) (Suggestions, error) {
	request, err := record.ReadRequest(ctx, a.Blobs, in.RunRef)
	if err != nil {
		return Suggestions{}, err
	}
	var answer record.ModelCall
	if err := a.Blobs.GetJSON(ctx, in.Answer, &answer); err != nil {
		return Suggestions{}, fmt.Errorf("read the answer: %w", err)
	}
	system, user := prompt.Suggestions(request.Question, prompt.WithoutReflection(citation.Strip(answer.Text)))
	said, done, err := a.chats.chatOnce(ctx, request.Config, model.ChatRequest{
		Messages: []model.Message{{Role: model.RoleSystem, Content: system}, {Role: model.RoleUser, Content: user}},
	})
	if err != nil {
		return Suggestions{}, err
	}
	said, err = a.chats.redacted(ctx, request.Config.Privacy, said)
	return Suggestions{Questions: questionsIn(said), Usage: step.NewCalled(done).Usage}, err
}

// questionsIn returns the lines of a text that are questions. A model that cannot suggest
// any may answer with other sentences.
func questionsIn(text string) []string {
	questions := []string{}
	for given := range strings.Lines(text) {
		q := line(strings.TrimLeft(strings.TrimSpace(given), "-*•0123456789.) "), maxSuggestion)
		if len(questions) < maxSuggestions && (strings.HasSuffix(q, "?") || strings.HasSuffix(q, "？") || strings.HasSuffix(q, "؟")) {
			questions = append(questions, q)
		}
	}
	return questions
}
