package client

import (
	"context"
	"net/http"
	"net/url"
)

// Usage is what the runs of a project used of models.
type Usage struct {
	From  string     `json:"from"` // the first day
	To    string     `json:"to"`   // the last day
	Total UsageSum   `json:"total"`
	Days  []UsageDay `json:"days"`

	Currency string `json:"currency,omitempty"` // of the costs, "" = there are none
}

// UsageSum counts runs and what they used.
type UsageSum struct {
	Runs             int     `json:"runs"`
	Questions        int     `json:"questions"`
	Documents        int     `json:"documents"` // versions that were published
	PromptTokens     int     `json:"prompt_tokens"`
	CompletionTokens int     `json:"completion_tokens"`
	ModelCalls       int     `json:"model_calls"` // of chat models
	EmbeddingCalls   int     `json:"embedding_calls"`
	EmbeddingTokens  int     `json:"embedding_tokens"`
	RerankCalls      int     `json:"rerank_calls"`
	RerankTokens     int     `json:"rerank_tokens"`
	Seconds          float64 `json:"seconds"`

	Cost *float64 `json:"cost,omitempty"` // nil = no prices are known
}

// UsageDay is what a model used on a day.
type UsageDay struct {
	Day   string `json:"day"`
	Model string `json:"model"` // "" = questions without an answer
	UsageSum
}

// ProjectUsage sums what the runs of a project used of models. from and to are days such as
// 2026-01-31, "" = the server's defaults.
func (c *Client) ProjectUsage(ctx context.Context, id, from, to string) (Usage, error) {
	query := url.Values{}
	setString(query, "from", from)
	setString(query, "to", to)
	var usage Usage
	_, err := c.call(ctx, http.MethodGet, c.inWorkspace("projects", id, "usage"), query, nil, &usage)
	return usage, err
}
