package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/prompt"
	"github.com/cairn-rag/cairn/internal/webhook"
)

// WebhookCall is the data of a webhookCall event.
type WebhookCall struct {
	ID      string              `json:"id"`
	Status  knowledge.RunStatus `json:"status"` // completed or failed
	Fields  []string            `json:"fields"` // of its answer
	Message string              `json:"message,omitempty"`
	Seconds float64             `json:"seconds"`
}

// WebhookAnswers is what the webhooks of a question answered together.
type WebhookAnswers struct {
	webhook.QueryAnswer

	Calls []WebhookCall `json:"calls"`
	// Known are the documents that Chunks name, by the index of the chunk.
	Known map[int]KnownDocument `json:"known,omitempty"`
}

// KnownDocument is a document that a passage of a webhook is from.
type KnownDocument struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	ChunkID string `json:"chunk_id,omitempty"` // whose text has the passage, "" = none has
	Version int    `json:"version,omitempty"`  // of the chunk
}

// ReadWebhooks returns what the webhooks of a question answered, nil if they have not yet.
func ReadWebhooks(ctx context.Context, blobs RequestBlobs, run knowledge.RunRef) (*WebhookAnswers, error) {
	var record WebhookAnswers
	err := blobs.GetJSON(ctx, run.WebhooksKey(), &record)
	if errors.Is(err, blob.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the answers of webhooks of run %s: %w", run.Run, err)
	}
	return &record, nil
}

// Apply changes a request as the webhooks answered.
func (r WebhookAnswers) Apply(request *knowledge.Request) {
	if r.Filters != nil {
		request.Filter = *r.Filters
	}
	if p := r.AIParameters; p != nil {
		ai := &request.Config.AI
		ai.Model = cmp.Or(p.Model, ai.Model)
		ai.MaxTokens = cmp.Or(p.MaxTokens, ai.MaxTokens)
		if p.Temperature != nil {
			ai.Temperature = p.Temperature
		}
	}
}

// WantsContext reports whether the prompt of a webhook has a place for passages.
func (r WebhookAnswers) WantsContext() bool {
	return slices.ContainsFunc(r.Prompt, func(m knowledge.Message) bool { return m.Content != "" && prompt.WantsContext(m.Content) })
}

// Sources returns the sources that a webhook shows in place of the sources of the answer.
func (r WebhookAnswers) Sources() []Source {
	list := make([]Source, 0, len(r.SearchResults))
	for i, s := range r.SearchResults {
		list = append(list, Source{Rank: i + 1, Given: &GivenSource{Name: s.Title, URL: s.URL, Text: s.Snippet}})
	}
	return list
}
