package activities

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/stream"
)

// candidate is a model that may answer a call.
type candidate struct {
	chat Chat
	name string // of the model at the endpoint; "" = the endpoint's own
}

// model returns the name of the model.
func (c candidate) model() string { return cmp.Or(c.name, c.chat.Endpoint().Model) }

// candidates returns the models that may answer a call of a request, in the order in which
// they are tried: that of the project, and then those of its failover, or of the
// instance's. A name is that of an endpoint of the instance's failover, or else a model of
// the first endpoint.
func (a *Answering) candidates(ai knowledge.AIConfig) []candidate {
	list := []candidate{{a.Chat, ai.Model}}
	if len(ai.Failover) == 0 {
		for _, chat := range a.Failover {
			list = append(list, candidate{chat: chat})
		}
	}
	for _, name := range ai.Failover {
		if i := slices.IndexFunc(a.Failover, func(c Chat) bool { return c.Endpoint().Model == name }); i >= 0 {
			list = append(list, candidate{chat: a.Failover[i]})
		} else if name != list[0].model() {
			list = append(list, candidate{a.Chat, name})
		}
	}
	return list
}

// ModelFailed is the data of a modelFailed event.
type ModelFailed struct {
	Model    string `json:"model"`
	Provider string `json:"provider"`
	Code     string `json:"code"`             // of a model.Error
	Status   int    `json:"status,omitempty"` // HTTP status, 0 = no answer
	Attempt  int    `json:"attempt"`
	Next     string `json:"next,omitempty"` // the model that is asked now, "" = none is left
}

// firstThatAnswers asks the candidates, one after the other, until one answers. call makes
// the call of one. A failure that is not the model's ends it. What a model said before it
// failed is dropped, unless the next one says the same.
func (a *Answering) firstThatAnswers(ctx context.Context, candidates []candidate, p *publisher, call func(candidate) (TurnRecord, error)) (TurnRecord, error) {
	for i, c := range candidates {
		record, err := call(c)
		failed, ok := errors.AsType[*model.Error](err)
		if !ok || ctx.Err() != nil || len(candidates) == 1 {
			return record, err
		}
		data := ModelFailed{Model: c.model(), Provider: failed.Provider, Code: failed.Code, Status: failed.Status, Attempt: p.attempt}
		if i+1 == len(candidates) {
			p.note(stream.TopicModelFailed, stream.Data(data))
			return record, err
		}
		data.Next = candidates[i+1].model()
		a.Log.WarnContext(ctx, "a model failed; the next one is asked", "run", p.in.Run, "model", data.Model, "next", data.Next, "error", err)
		p.note(stream.TopicModelFailed, stream.Data(data))
		p.restart()
	}
	return TurnRecord{}, errors.New("there is no model")
}

// note publishes an event before the next words, or at the end of the attempt.
func (p *publisher) note(topic string, data json.RawMessage) {
	entry, err := stream.NewEntry(topic, stream.Event{Data: data})
	if err != nil {
		return // a struct of strings and numbers can always be encoded
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.notes = append(p.notes, entry)
}
