package step

import (
	"context"
	"encoding/json"
	"iter"
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/privacy"
)

// Protected is a chat model that gets placeholders in the place of personal data. Its
// answers have the values again, in their words, their reasoning and the arguments of their
// tool calls. Pictures are not sent. A recogniser that cannot answer is an error, before the
// model is asked.
type Protected struct {
	Model       Chat
	Recognisers privacy.Recognisers
	Rules       knowledge.PIIRules
}

// Endpoint returns the endpoint of the model.
func (p Protected) Endpoint() model.Endpoint { return p.Model.Endpoint() }

// withheld tells the model of a picture that is not sent.
const withheld = "[A picture is not shown here, because it may show personal data.]\n\n"

// Chat asks the model. It returns the errors of the recognisers and of the model.
func (p Protected) Chat(ctx context.Context, r model.ChatRequest) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		shield, err := p.shield(ctx, r)
		if err != nil {
			yield(model.Delta{}, err)
			return
		}
		sent := protected(r, shield.Redact, shield.RedactJSON)
		words, thoughts := shield.NewRestorer(len(r.Format) > 0), shield.NewRestorer(false)
		for delta, err := range p.Model.Chat(ctx, sent) {
			if err != nil {
				yield(delta, err)
				return
			}
			if delta.Restart || delta.Done != nil { // what is held back belongs to the words before
				held := model.Delta{Text: words.Close(), Reasoning: thoughts.Close()}
				if held != (model.Delta{}) && !yield(held, nil) {
					return
				}
			}
			delta.Text, delta.Reasoning = words.Write(delta.Text), thoughts.Write(delta.Reasoning)
			if delta.Done != nil {
				done := *delta.Done
				done.ToolCalls = slices.Clone(done.ToolCalls)
				for i := range done.ToolCalls {
					done.ToolCalls[i].Arguments = shield.RestoreJSON(done.ToolCalls[i].Arguments)
				}
				delta.Text += words.Close()
				delta.Reasoning += thoughts.Close()
				delta.Done = &done
			}
			if !yield(delta, nil) {
				return
			}
		}
	}
}

// shield returns the shield of a request.
func (p Protected) shield(ctx context.Context, r model.ChatRequest) (*privacy.Shield, error) {
	var literal []string
	note := func(text string) string {
		literal = append(literal, text)
		return text
	}
	protected(r, note, note)
	finder, err := p.Recognisers.Finder(ctx, p.Rules, func(f *privacy.Finder) {
		asking := f.NewShield()
		protected(r, asking.Redact, asking.RedactJSON)
	})
	if err != nil {
		return nil, err
	}
	return finder.NewShield(literal...), nil
}

// protected returns a request whose texts are as redact returns them, and whose JSON is as
// redactJSON does, in the order of the messages.
func protected(r model.ChatRequest, redact, redactJSON func(string) string) model.ChatRequest {
	r.Messages, r.Tools, r.Stop = slices.Clone(r.Messages), slices.Clone(r.Tools), slices.Clone(r.Stop)
	for i := range r.Tools {
		r.Tools[i].Description = redact(r.Tools[i].Description)
		r.Tools[i].Parameters = json.RawMessage(redactJSON(string(r.Tools[i].Parameters)))
	}
	for i := range r.Messages {
		m := &r.Messages[i]
		m.Content = redact(m.Content)
		for range m.Pictures {
			m.Content = withheld + m.Content
		}
		m.Pictures, m.ToolCalls = nil, slices.Clone(m.ToolCalls)
		for j := range m.ToolCalls {
			m.ToolCalls[j].Arguments = redactJSON(m.ToolCalls[j].Arguments)
		}
	}
	for i := range r.Stop {
		r.Stop[i] = redact(r.Stop[i])
	}
	return r
}
