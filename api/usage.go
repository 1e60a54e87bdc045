package api

import (
	"context"
	"math"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// usageDays bounds the time of one request for usage.
const (
	usageDays        = 366
	defaultUsageDays = 30
)

// projectUsage is what the runs of a project used of models.
type projectUsage struct {
	From  string       `json:"from" format:"date" doc:"The first day, in UTC"`
	To    string       `json:"to" format:"date" doc:"The last day"`
	Total UsageSum     `json:"total"`
	Days  []usageOfDay `json:"days" doc:"Sums by day and model: the model that answered, or that embedded the documents"`
}

// UsageSum counts runs and what they used.
type UsageSum struct {
	Runs             int     `json:"runs"`
	PromptTokens     int     `json:"prompt_tokens"`
	CompletionTokens int     `json:"completion_tokens"`
	ModelCalls       int     `json:"model_calls" doc:"Calls of chat, transcription and image models"`
	EmbeddingCalls   int     `json:"embedding_calls"`
	EmbeddingTokens  int     `json:"embedding_tokens" doc:"Tokens, if the endpoint counts them"`
	RerankCalls      int     `json:"rerank_calls"`
	RerankTokens     int     `json:"rerank_tokens" doc:"Tokens, if the endpoint counts them"`
	Seconds          float64 `json:"seconds" doc:"The duration of the runs"`
}

type usageOfDay struct {
	Day   string `json:"day" format:"date"`
	Model string `json:"model" doc:"Empty for questions that ended without an answer"`
	UsageSum
}

// usageRoutes holds the route of what projects have used.
type usageRoutes struct {
	store Tenants
	now   func() time.Time
}

func (u *usageRoutes) mount(e *edge.Edge) {
	edge.Handle(e, edge.Route{Scope: knowledge.ScopeRead, Operation: huma.Operation{
		OperationID: "get-project-usage", Method: http.MethodGet, Path: "/workspaces/{workspaceId}/projects/{id}/usage",
		Summary: "Read the model usage of a project", Description: "Sums by day and model. They include finished questions, ingests and reindexes, and imports up to now, each on the day on which it started.", Tags: []string{"projects"},
	}}, u.getProjectUsage)
}

func (u *usageRoutes) getProjectUsage(ctx context.Context, p knowledge.Principal, in *struct {
	ProjectPath
	From string `query:"from" pattern:"^([0-9]{4}-[0-9]{2}-[0-9]{2})?$" doc:"The first day, in UTC, such as 2026-03-01. Default: 29 days before the last day"`
	To   string `query:"to" pattern:"^([0-9]{4}-[0-9]{2}-[0-9]{2})?$" doc:"The last day. Default: today"`
}) (*struct{ Body projectUsage }, error) {
	to, err := usageDay("query.to", in.To, u.now().UTC().Truncate(24*time.Hour))
	if err != nil {
		return nil, err
	}
	from, err := usageDay("query.from", in.From, to.AddDate(0, 0, 1-defaultUsageDays))
	if err != nil {
		return nil, err
	}
	if from.After(to) || to.Sub(from) >= usageDays*24*time.Hour {
		return nil, knowledge.Invalid("query.from", "must be at most %d days before query.to, and not after it", usageDays-1)
	}
	days, err := u.store.ProjectUsage(ctx, p, in.ID, from, to.AddDate(0, 0, 1))
	if err != nil {
		return nil, err
	}
	usage := projectUsage{From: from.Format(time.DateOnly), To: to.Format(time.DateOnly), Days: []usageOfDay{}}
	var total knowledge.RunUsage
	runs := 0
	for _, d := range days {
		usage.Days = append(usage.Days, usageOfDay{d.Day, d.Model, newUsageSum(d.Runs, d.RunUsage)})
		runs += d.Runs
		total.Add(d.Usage)
		total.Seconds += d.Seconds
	}
	total.Seconds = math.Round(1000*total.Seconds) / 1000
	usage.Total = newUsageSum(runs, total)
	return &struct{ Body projectUsage }{usage}, nil
}

func newUsageSum(runs int, u knowledge.RunUsage) UsageSum {
	return UsageSum{
		Runs: runs, PromptTokens: u.PromptTokens, CompletionTokens: u.CompletionTokens, ModelCalls: u.ModelCalls,
		EmbeddingCalls: u.EmbeddingCalls, EmbeddingTokens: u.EmbeddingTokens, RerankCalls: u.RerankCalls, RerankTokens: u.RerankTokens, Seconds: u.Seconds,
	}
}

func usageDay(location, given string, other time.Time) (time.Time, error) {
	if given == "" {
		return other, nil
	}
	day, err := time.Parse(time.DateOnly, given)
	if err != nil {
		return day, knowledge.Invalid(location, "must be a day such as 2026-01-31")
	}
	return day, nil
}
