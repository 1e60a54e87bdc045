package api

import (
	"cmp"
	"slices"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// insightDay is what the questions of a day cost, and how long they took.
type insightDay struct {
	Day              string   `json:"day" doc:"2006-01-02"`
	Questions        int      `json:"questions"`
	Failed           int      `json:"failed"`
	PromptTokens     int      `json:"prompt_tokens"`
	CompletionTokens int      `json:"completion_tokens"`
	Cost             *float64 `json:"cost,omitempty" doc:"Absent if models.prices names no price"`
	Currency         string   `json:"currency,omitempty"`
	Median           *float64 `json:"latency_p50" doc:"Seconds from the question to the end of its answer; null without an answer"`
	Slow             *float64 `json:"latency_p95" doc:"The same"`
	Runs             []string `json:"runs" doc:"The slowest"`
}

// slowestShown is how many of the slowest runs of a day are named.
const slowestShown = 5

// days sums what the questions of each day used, and how long they took.
func (ir *insightRoutes) days(asked []askedRun) []insightDay {
	byDay := map[string][]askedRun{}
	var order []string
	for _, a := range asked { // newest first
		day := a.CreatedAt.UTC().Format(time.DateOnly)
		if byDay[day] == nil {
			order = append(order, day)
		}
		byDay[day] = append(byDay[day], a)
	}
	list := []insightDay{}
	for _, day := range order {
		list = append(list, ir.day(day, byDay[day]))
	}
	return list
}

func (ir *insightRoutes) day(day string, asked []askedRun) insightDay {
	out := insightDay{Day: day, Questions: len(asked), Runs: []string{}}
	var used knowledge.Usage
	var answered []askedRun
	for _, a := range asked {
		used.Add(a.used.Usage)
		if a.Status == knowledge.RunFailed {
			out.Failed++
		}
		if a.answer != nil && a.used.Seconds > 0 {
			answered = append(answered, a)
		}
	}
	out.PromptTokens, out.CompletionTokens = used.PromptTokens, used.CompletionTokens
	if ir.currency != "" {
		out.Cost, out.Currency = &used.Cost, ir.currency
	}
	if len(answered) == 0 {
		return out
	}
	slices.SortFunc(answered, func(a, b askedRun) int { return cmp.Compare(a.used.Seconds, b.used.Seconds) })
	at := func(share float64) *float64 { return &answered[int(share*float64(len(answered)-1)+0.5)].used.Seconds }
	out.Median, out.Slow = at(0.5), at(0.95)
	for i := range min(len(answered), slowestShown) {
		out.Runs = append(out.Runs, answered[len(answered)-1-i].ID)
	}
	return out
}
