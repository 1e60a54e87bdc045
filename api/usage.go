package api

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/quota"
	"github.com/cairn-rag/cairn/internal/store"
)

// usageDays bounds the time of one request for usage.
const (
	usageDays        = 366
	defaultUsageDays = 30
)

// projectUsage is what the runs of a project used of models.
type projectUsage struct {
	From  string   `json:"from" format:"date" doc:"The first day, in UTC"`
	To    string   `json:"to" format:"date" doc:"The last day"`
	Total UsageSum `json:"total"`

	Currency string `json:"currency,omitempty" doc:"Of the costs; absent if models.prices names no price"`

	Days []usageOfDay `json:"days" doc:"Sums by day and model: the model that answered, or that embedded the documents"`
}

// UsageSum counts runs and what they used.
type UsageSum struct {
	Runs             int     `json:"runs"`
	Questions        int     `json:"questions" doc:"Questions that the runs answered, with research"`
	Documents        int     `json:"documents" doc:"Versions of documents that the runs published, without those of reindexes"`
	PromptTokens     int     `json:"prompt_tokens"`
	CompletionTokens int     `json:"completion_tokens"`
	ModelCalls       int     `json:"model_calls" doc:"Calls of chat, transcription and image models"`
	EmbeddingCalls   int     `json:"embedding_calls"`
	EmbeddingTokens  int     `json:"embedding_tokens" doc:"Tokens, if the endpoint counts them"`
	RerankCalls      int     `json:"rerank_calls"`
	RerankTokens     int     `json:"rerank_tokens" doc:"Tokens, if the endpoint counts them"`
	Seconds          float64 `json:"seconds" doc:"The duration of the runs"`

	Cost *float64 `json:"cost,omitempty" doc:"The price of the tokens when they were used, as far as models.prices had it; absent if it names no price"`
}

type usageOfDay struct {
	Day   string `json:"day" format:"date"`
	Model string `json:"model" doc:"Empty for questions that ended without an answer"`
	UsageSum
}

// usageRoutes holds the routes of what projects, keys and people have used.
type usageRoutes struct {
	store    Store
	meter    *quota.Meter
	currency string // of the costs, "" = none are shown
	now      func() time.Time
}

func (u *usageRoutes) mount(e *edge.Edge) {
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "get-project-usage", Method: http.MethodGet, Path: "/workspaces/{workspaceId}/projects/{id}/usage",
		Summary: "Read the model usage of a project", Description: whatUsageSums, Tags: []string{"projects"},
	}}, u.getProjectUsage)
	edge.Handle(e, edge.Route{Operation: huma.Operation{
		OperationID: "get-usage", Method: http.MethodGet, Path: "/workspaces/{workspaceId}/usage",
		Summary: "Read the model usage by project, key or person", Description: whatUsageSums + " A run belongs to the person for whom it was started, else to the key that started it: by=key counts only runs that a key started for nobody. Runs of others are under an empty id.", Tags: []string{"projects"},
	}}, u.getUsage)
}

const whatUsageSums = "Sums by day and model, with their cost if models.prices names prices. They include finished questions, ingests and reindexes, and imports up to now, each on the day on which it started."

// UsagePeriod are the query parameters of the days whose usage is read.
type UsagePeriod struct {
	From string `query:"from" pattern:"^([0-9]{4}-[0-9]{2}-[0-9]{2})?$" doc:"The first day, in UTC, such as 2026-03-01. Default: 29 days before the last day"`
	To   string `query:"to" pattern:"^([0-9]{4}-[0-9]{2}-[0-9]{2})?$" doc:"The last day. Default: today"`
}

// days returns the first and the last day.
func (d UsagePeriod) days(now time.Time) (from, to time.Time, err error) {
	if to, err = usageDay("query.to", d.To, now.UTC().Truncate(24*time.Hour)); err != nil {
		return from, to, err
	}
	if from, err = usageDay("query.from", d.From, to.AddDate(0, 0, 1-defaultUsageDays)); err != nil {
		return from, to, err
	}
	if from.After(to) || to.Sub(from) >= usageDays*24*time.Hour {
		err = knowledge.Invalid("query.from", "must be at most %d days before query.to, and not after it", usageDays-1)
	}
	return from, to, err
}

func (u *usageRoutes) getProjectUsage(ctx context.Context, p knowledge.Principal, in *struct {
	ProjectPath
	UsagePeriod
}) (*struct{ Body projectUsage }, error) {
	from, to, err := in.days(u.now())
	if err != nil {
		return nil, err
	}
	days, err := u.store.ProjectUsage(ctx, p, in.ID, from, to.AddDate(0, 0, 1))
	if err != nil {
		return nil, err
	}
	list, total := sumUsage(days, u.currency)
	return &struct{ Body projectUsage }{projectUsage{Currency: u.currency, From: from.Format(time.DateOnly), To: to.Format(time.DateOnly), Days: list, Total: total}}, nil
}

// workspaceUsage is what the runs of a workspace used of models.
type workspaceUsage struct {
	From string `json:"from" format:"date" doc:"The first day, in UTC"`
	To   string `json:"to" format:"date" doc:"The last day"`

	Currency string `json:"currency,omitempty" doc:"Of the costs; absent if models.prices names no price"`

	Data []ownedUsage `json:"data" doc:"Those that used models, the most runs first, and those that have limits"`
}

type ownedUsage struct {
	ID    string       `json:"id" doc:"Of the project or the key, or user: or externalUser: and the person. Empty: the runs that belong to none"`
	Name  string       `json:"name" doc:"Empty if it is not known any more"`
	Total UsageSum     `json:"total"`
	Days  []usageOfDay `json:"days" doc:"Sums by day and model: the model that answered, or that embedded the documents"`

	Limits    *limitsView `json:"limits" doc:"That hold for it; null: none"`
	UsedToday usedToday   `json:"used_today" doc:"What counts against the limits. Use of a key is counted to it also where it acts for a user"`
}

func (u *usageRoutes) getUsage(ctx context.Context, p knowledge.Principal, in *struct {
	WorkspacePath
	By store.UsageBy `query:"by" enum:"project,key,user" default:"project" doc:"To whom usage is attributed"`
	UsagePeriod
}) (*struct{ Body workspaceUsage }, error) {
	from, to, err := in.days(u.now())
	if err != nil {
		return nil, err
	}
	found, err := u.store.Usage(ctx, p, in.By, from, to.AddDate(0, 0, 1))
	if err != nil {
		return nil, err
	}
	usage := workspaceUsage{Currency: u.currency, From: from.Format(time.DateOnly), To: to.Format(time.DateOnly), Data: []ownedUsage{}}
	for _, one := range found {
		days, total := sumUsage(one.Days, u.currency)
		usage.Data = append(usage.Data, ownedUsage{ID: one.ID, Name: one.Name, Days: days, Total: total})
	}
	if err := u.addLimits(ctx, p, in.By, &usage); err != nil {
		return nil, err
	}
	slices.SortStableFunc(usage.Data, func(a, b ownedUsage) int { return b.Total.Runs - a.Total.Runs })
	return &struct{ Body workspaceUsage }{usage}, nil
}

// addLimits adds to usage what limits those have who used models, and those who have limits or
// have used something in this day.
func (u *usageRoutes) addLimits(ctx context.Context, p knowledge.Principal, by store.UsageBy, usage *workspaceUsage) error {
	kind := map[store.UsageBy]knowledge.AccountKind{
		store.UsageByKey: knowledge.KeyAccount, store.UsageByUser: knowledge.UserAccount, store.UsageByProject: knowledge.ProjectAccount,
	}[by]
	accounts, err := u.store.AccountUses(ctx, p, by, defaultsOf(u.meter, kind))
	if err != nil {
		return err
	}
	for _, a := range accounts {
		at := slices.IndexFunc(usage.Data, func(o ownedUsage) bool { return o.ID == a.ID })
		if at < 0 {
			at = len(usage.Data)
			_, none := sumUsage(nil, u.currency)
			usage.Data = append(usage.Data, ownedUsage{ID: a.ID, Name: a.Label, Total: none, Days: []usageOfDay{}})
		}
		usage.Data[at].Limits, usage.Data[at].UsedToday = limitsOrNull(a.Limits), viewUsedToday(a)
	}
	return nil
}

// sumUsage returns the sums of days as they are shown, and their sum. Costs in another
// currency are left out.
func sumUsage(days []knowledge.DayUsage, currency string) (list []usageOfDay, total UsageSum) {
	list = []usageOfDay{}
	var all knowledge.DayUsage
	var byModel []knowledge.DayUsage
	for _, d := range days {
		if d.Currency != currency {
			d.Cost, d.Currency = 0, ""
		}
		all.AddRuns(d)
		if last := len(byModel) - 1; last >= 0 && byModel[last].Day == d.Day && byModel[last].Model == d.Model {
			byModel[last].AddRuns(d)
			continue
		}
		byModel = append(byModel, d)
	}
	for _, d := range byModel {
		list = append(list, usageOfDay{d.Day, d.Model, newUsageSum(d, currency)})
	}
	return list, newUsageSum(all, currency)
}

func newUsageSum(u knowledge.DayUsage, currency string) UsageSum {
	sum := UsageSum{
		Runs: u.Runs, Questions: u.Questions, Documents: u.Documents, PromptTokens: u.PromptTokens, CompletionTokens: u.CompletionTokens, ModelCalls: u.ModelCalls,
		EmbeddingCalls: u.EmbeddingCalls, EmbeddingTokens: u.EmbeddingTokens, RerankCalls: u.RerankCalls, RerankTokens: u.RerankTokens, Seconds: u.Seconds,
	}
	if currency != "" {
		sum.Cost = &u.Cost
	}
	return sum
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
