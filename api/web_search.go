package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/question"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/internal/websearch"
)

// webSearchBody is the body of POST /tools/web_search.
type webSearchBody struct {
	Query       string   `json:"query" doc:"The search query"`
	TimeRange   string   `json:"time_range,omitempty" enum:"day,month,year,none" doc:"Only pages from the last day, week, month or year. Default: tools.web_search.dateRange of the project, else none"`
	Whitelisted []string `json:"whitelisted_domains,omitempty" maxItems:"100" doc:"Only pages of these domains and their subdomains"`
	SessionID   string   `json:"session_id,omitempty" doc:"A conversation of the user"`
	edge.PersonFields
	ProjectID string `json:"project_id,omitempty" doc:"The project whose settings apply (tools.web_search, ai). Default: the project of the key, else the default settings"`
	Stream    bool   `json:"stream,omitempty" doc:"Respond with server-sent events"`
}

type webSearchInput struct {
	Delta   string `query:"delta" enum:"on,off" doc:"off: send large events in one piece"`
	Profile string `query:"profile" enum:"ag-ui" doc:"ag-ui: stream AG-UI events, like the header Accept: text/event-stream; profile=ag-ui"`
	Body    webSearchBody
}

// webSearch serves POST /tools/web_search.
func (q *questionRoutes) webSearch(_ context.Context, _ knowledge.Principal, in *webSearchInput) (*huma.StreamResponse, error) {
	return rawResponse(func(w http.ResponseWriter, r *http.Request) {
		b := in.Body
		p, err := q.toolPrincipal(r, b.PersonFields, b.SessionID)
		if err == nil && !slices.Contains(q.tools, knowledge.ToolWebSearch) {
			err = record.NoWebSearch()
		}
		if err == nil {
			_, err = websearch.ParseDomains("body.whitelisted_domains", b.Whitelisted)
		}
		if err != nil {
			edge.WriteError(w, r, err)
			return
		}
		q.startRun(w, r, p, answerRequest{
			body: b, stream: b.Stream, terminal: "tool_end",
			question: question.Request{
				Kind: knowledge.KindTool, Web: &knowledge.WebRequest{Since: knowledge.WebSince(b.TimeRange), Only: b.Whitelisted},
				TextField: "body.query", Text: b.Query, Project: b.ProjectID,
			},
		})
	}), nil
}

// webAnswer is the output of web_search, in the seed's order.
type webAnswer struct {
	Query       string      `json:"query"`
	Response    string      `json:"response" doc:"The answer, with web_citation elements"`
	Sources     []webSource `json:"sources" doc:"The pages that the model got"`
	SourcesUsed []int       `json:"sources_used" doc:"The ranks that the response cites"`
	Model       string      `json:"model"`
	Reranker    string      `json:"reranker" doc:"none if the order of the search engine was kept"`
	Total       int         `json:"total_results"`
	Reranked    int         `json:"reranked_results"`
	ExecutionID string      `json:"execution_id"`

	FinishReason string `json:"finish_reason,omitempty" doc:"Why the model stopped early: length or content_filter"`
}

// webSource is a page in the output of web_search.
type webSource struct {
	Rank    int     `json:"rank"`
	Title   string  `json:"title"`
	URL     string  `json:"url"`
	Snippet string  `json:"snippet"`
	Score   float64 `json:"rerank_score" doc:"The score of the reranker, or without one of the search"`
	Used    bool    `json:"used_in_response"`
}

// webUpdate is the data of a tool_update event of web_search.
type webUpdate struct {
	Phase     string         `json:"phase,omitempty" enum:"WEB_SEARCH,SCRAPING_URLS,RERANKING,GENERATION"`
	Status    string         `json:"status,omitempty" enum:"started,completed"`
	Query     string         `json:"query,omitempty"`
	Data      map[string]any `json:"data,omitempty"`
	Reranked  *int           `json:"reranked_results,omitempty"`
	Sources   *[]webSource   `json:"sources,omitempty"`
	OutputKey string         `json:"output_key,omitempty" enum:"sources,reranked_results"`
}

// webResult returns the output object of web_search.
func (r *renderer) webResult(ctx context.Context, answer record.Answer) (any, error) {
	request, err := r.request(ctx)
	if err != nil {
		return nil, err
	}
	out := webAnswer{
		Query: request.Question, Response: answer.Answer, Sources: []webSource{}, SourcesUsed: notNil(answer.Used), Model: answer.Model,
		Reranker: answer.Web.Reranker, Total: answer.Web.Total, Reranked: answer.Web.Kept, ExecutionID: answer.ExecutionID, FinishReason: answer.FinishReason,
	}
	for _, s := range answer.Sources {
		out.Sources = append(out.Sources, webSource{Rank: s.Rank, Title: s.Page.Title, URL: s.Page.URL, Snippet: s.Page.Snippet, Score: s.Score, Used: s.Used})
	}
	return out, nil
}

// request returns the request of the run.
func (r *renderer) request(ctx context.Context) (knowledge.Request, error) {
	return record.ReadRequest(ctx, r.results.blobs, knowledge.RunRef{Workspace: r.run.Workspace, Project: r.run.Project, Run: r.run.ID})
}

// toolUpdate is a phase of a tool. The words of a search of the web are in the blob that
// the event names.
func (r *renderer) toolUpdate(ctx context.Context, e stream.Event) (any, error) {
	if e.Ref == "" {
		return e.Data, nil
	}
	var u webUpdate
	if err := json.Unmarshal(e.Data, &u); err != nil {
		return nil, fmt.Errorf("phase of run %s: %w", r.run.ID, err)
	}
	switch {
	case u.Phase == record.PhaseWebSearch && u.Status == "started":
		request, err := r.request(ctx)
		u.Query = request.Question
		return u, err
	case u.Phase == record.PhaseWebSearch:
		var found record.WebFound
		if err := r.results.blobs.GetJSON(ctx, e.Ref, &found); err != nil {
			return nil, fmt.Errorf("results of run %s: %w", r.run.ID, err)
		}
		u.Data["sources"] = found.Sources()
		return u, nil
	}
	var search record.Search
	if err := r.results.blobs.GetJSON(ctx, e.Ref, &search); err != nil {
		return nil, fmt.Errorf("pages of run %s: %w", r.run.ID, err)
	}
	sources := make([]webSource, 0, len(search.Passages))
	for i, p := range search.Passages {
		sources = append(sources, webSource{Rank: i + 1, Title: p.Page.Title, URL: p.Page.URL, Snippet: p.Page.Snippet, Score: p.Score})
	}
	u.Sources = &sources
	return u, nil
}
