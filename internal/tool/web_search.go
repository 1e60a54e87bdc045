package tool

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// WebQuery is what the model gives web_search.
type WebQuery struct {
	Query string   `json:"query"`
	Since string   `json:"time_range"`
	Only  []string `json:"whitelisted_domains"`
}

// webLimit bounds a search of the web: the request, the pages that are read, and their
// ranking.
const webLimit = time.Minute

var webTimes = []string{"", "none", "day", "month", "year"}

// NewWebSearch returns the tool that searches the web, for projects that set it. search
// does not repeat a step that is stored.
func NewWebSearch(search func(ctx context.Context, c Call, q WebQuery) (Output, error)) Tool {
	return Tool{
		Name:        knowledge.ToolWebSearch,
		Description: "Search the web for pages about a query. Use it for what is recent or public, and is not in the documents.",
		Parameters: json.RawMessage(`{"type":"object","properties":{` +
			`"query":{"type":"string","description":"What to look for, in a few specific words"},` +
			`"time_range":{"type":"string","enum":["day","month","year","none"],"description":"Only pages of that time; only if the user asks for a time"},` +
			`"whitelisted_domains":{"type":"array","items":{"type":"string"},"description":"Only pages of these domains; only if the user names them"}` +
			`},"required":["query"],"additionalProperties":false}`),
		Limit:   webLimit,
		Offered: func(r knowledge.Request) bool { return r.Config.Tools.WebSearch != nil },
		Run: func(ctx context.Context, c Call) (Output, error) {
			var q WebQuery
			if err := json.Unmarshal([]byte(c.Arguments), &q); err != nil || q.Query == "" || len(q.Query) > MaxQuery || !slices.Contains(webTimes, q.Since) {
				return Output{}, knowledge.Errorf(knowledge.CodeInvalid,
					`the arguments must be {"query": "…"} with a query of at most %d bytes, and optionally time_range (day, month, year or none) and whitelisted_domains`, MaxQuery)
			}
			return search(ctx, c, q)
		},
	}
}
