package server

import (
	"context"
	"time"

	"github.com/cairn-rag/cairn/internal/config"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/retrieve"
)

// searchModels returns the models that the stages of a search ask.
func (p *platform) searchModels() retrieve.Models {
	models := retrieve.Models{Chat: searchChat{p}, Passages: p.store, Facets: p.store, Attachments: p.store, Recognisers: p.recognisers()}
	if r := p.cfg.Models.Rerank; r.BaseURL != "" {
		models.RerankerName, models.RerankTime = r.Model, r.Timeout
		var others []*model.Reranker
		for _, f := range r.Failover {
			others = append(others, model.NewReranker(p.endpoint(config.Model{Endpoint: f}, ""), model.RerankShape(f.Type), nil))
			models.RerankTime += f.Timeout
		}
		first := model.NewReranker(p.endpoint(r, ""), model.RerankShape(r.Type), nil)
		models.Reranker = searchReranker{first.WithFailover(p.log, others...), p}
	}
	if web, ok := p.webSource(); ok {
		models.Web = web
	}
	return models
}

// searchChat asks the chat model for the stages of a search.
type searchChat struct{ p *platform }

// CallTool implements retrieve.Chat.
func (c searchChat) CallTool(ctx context.Context, call retrieve.Call) (string, retrieve.Usage, error) {
	start := time.Now()
	arguments, usage, at, err := c.p.chats.CallTool(ctx, model.ToolRequest{
		Model: call.Model, System: call.System, User: call.User,
		Tool: model.Tool{Name: call.Tool, Description: call.Description, Parameters: call.Schema},
	}, call.Failover)
	c.p.countCall(at, "chat", start, err, usage)
	return arguments, retrieve.Usage{PromptTokens: usage.PromptTokens, CompletionTokens: usage.CompletionTokens, Cost: usage.Cost, Currency: usage.Currency}, err
}

// searchReranker counts the calls of the reranker.
type searchReranker struct {
	*model.Reranker
	p *platform
}

// Rerank implements retrieve.Reranker.
func (r searchReranker) Rerank(ctx context.Context, query string, texts []string) ([]float64, error) {
	scores, _, err := r.RerankCounted(ctx, query, texts)
	return scores, err
}

// RerankCounted implements retrieve.CountingReranker.
func (r searchReranker) RerankCounted(ctx context.Context, query string, texts []string) (scores []float64, used retrieve.Usage, err error) {
	start := time.Now()
	scores, calls, counted, err := r.Reranker.RerankCounted(ctx, query, texts)
	r.p.countCall(r.Endpoint(), "rerank", start, err, model.Usage{})
	return scores, retrieve.Usage{RerankCalls: calls, RerankTokens: counted.PromptTokens, Cost: counted.Cost, Currency: counted.Currency}, err
}

func (p *platform) countCall(e model.Endpoint, kind string, start time.Time, err error, usage model.Usage) {
	outcome := "ok"
	if err != nil {
		outcome = "error"
	}
	p.metrics.ModelCall(e.Provider, kind, outcome, time.Since(start).Seconds(), usage.PromptTokens, usage.CompletionTokens)
}
