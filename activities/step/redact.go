package step

import (
	"context"
	"iter"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/privacy"
)

// Redacted is a chat model in whose words and reasoning placeholders stand in the place of
// personal data. The arguments of tool calls keep the values. An answer in JSON comes as a
// whole, because a number in it becomes a text. A recogniser that cannot answer is an error.
type Redacted struct {
	Model       Chat
	Recognisers privacy.Recognisers
	Rules       knowledge.PIIRules
}

// Endpoint returns the endpoint of the model.
func (r Redacted) Endpoint() model.Endpoint { return r.Model.Endpoint() }

// redacting is the redaction of one answer.
type redacting struct {
	Redacted

	words, thoughts *privacy.Answer
	inJSON          bool
	json            strings.Builder
}

func (r Redacted) begin(request model.ChatRequest) *redacting {
	return &redacting{Redacted: r, words: r.Recognisers.NewAnswer(r.Rules), thoughts: r.Recognisers.NewAnswer(r.Rules), inJSON: len(request.Format) > 0}
}

// Chat asks the model. It returns the errors of the recognisers and of the model.
func (r Redacted) Chat(ctx context.Context, request model.ChatRequest) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		answer := r.begin(request)
		for delta, err := range r.Model.Chat(ctx, request) {
			if err == nil && delta.Restart { // what is held back belongs to the words before
				held, failed := answer.rest(ctx)
				if failed == nil && held != (model.Delta{}) && !yield(held, nil) {
					return
				}
				err, answer = failed, r.begin(request)
			}
			if err == nil {
				delta, err = answer.take(ctx, delta)
			}
			if !yield(delta, err) || err != nil {
				return
			}
		}
	}
}

// take returns a delta of which only what is certain is left, all of it in the last one.
func (a *redacting) take(ctx context.Context, delta model.Delta) (model.Delta, error) {
	if a.inJSON {
		a.json.WriteString(delta.Text)
		delta.Text = ""
	}
	var err error
	if delta.Text, err = a.words.Write(ctx, delta.Text); err != nil {
		return delta, err
	}
	if delta.Reasoning, err = a.thoughts.Write(ctx, delta.Reasoning); err != nil || delta.Done == nil {
		return delta, err
	}
	held, err := a.rest(ctx)
	delta.Text, delta.Reasoning = delta.Text+held.Text, delta.Reasoning+held.Reasoning
	return delta, err
}

// rest returns what is held back.
func (a *redacting) rest(ctx context.Context) (held model.Delta, err error) {
	if a.inJSON {
		if held.Text, err = a.Recognisers.RedactJSON(ctx, a.Rules, a.json.String()); err != nil {
			return held, err
		}
		held.Reasoning, err = a.thoughts.Close(ctx)
		return held, err
	}
	if held.Text, err = a.words.Close(ctx); err != nil {
		return held, err
	}
	held.Reasoning, err = a.thoughts.Close(ctx)
	return held, err
}
