package openai

import (
	"context"
	"encoding/json"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/quota"
)

// forwardedUse is what the answer to a forwarded request used, as far as the endpoint counts it;
// else it is estimated: each event of a stream is a token.
type forwardedUse struct {
	counted model.Usage
	events  int
	text    int // estimated tokens of an answer that is no stream
}

// note reads the usage of an answer, or of one event of it.
func (u *forwardedUse) note(data []byte) {
	var part struct {
		Usage   *model.Usage `json:"usage"`
		Choices []struct {
			Message struct {
				Content string `json:"content"`
			} `json:"message"`
		} `json:"choices"`
	}
	u.events++
	if json.Unmarshal(data, &part) != nil {
		return // it is passed on as it came
	}
	if part.Usage != nil {
		u.counted = *part.Usage
	}
	for _, c := range part.Choices {
		u.text += knowledge.EstimateTokens(c.Message.Content)
	}
}

// charge counts the use to the caller.
func (u *forwardedUse) charge(ctx context.Context, p knowledge.Principal, project string, request []byte, priced func(model.Usage) model.Usage) error {
	used := model.Usage{PromptTokens: u.counted.PromptTokens, CompletionTokens: u.counted.CompletionTokens}
	if used.PromptTokens+used.CompletionTokens == 0 && u.events > 0 {
		used = model.Usage{PromptTokens: knowledge.EstimateTokens(string(request)), CompletionTokens: max(u.text, u.events)}
	}
	used = priced(used)
	return quota.Charge(ctx, p, project, knowledge.Usage{
		PromptTokens: used.PromptTokens, CompletionTokens: used.CompletionTokens, ModelCalls: 1, Cost: used.Cost, Currency: used.Currency,
	})
}
