package websearch

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// onlyPatents restricts a search of the whole web to patents.
const onlyPatents = " site:patents.google.com"

func (c *Client) request(ctx context.Context, path string, parameters url.Values) (*http.Request, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, c.cfg.URL+path+"?"+parameters.Encode(), nil)
	if err != nil {
		return nil, fmt.Errorf("make the request of a search: %w", err)
	}
	return r, nil
}

// searxng asks a SearXNG instance, which must serve the format json.
func (c *Client) searxng(ctx context.Context, q Query) ([]Result, error) {
	category := map[knowledge.WebType]string{
		knowledge.WebNews: "news", knowledge.WebImages: "images", knowledge.WebVideos: "videos", knowledge.WebPlaces: "map",
		knowledge.WebScholar: "science", knowledge.WebShopping: "shopping",
	}[q.Type]
	if q.Type == knowledge.WebPatents {
		q.Text += onlyPatents
	}
	parameters := url.Values{"q": {q.Text}, "format": {"json"}, "categories": {cmp.Or(category, "general")}}
	if since := q.Since; since != "" {
		if since == "hour" { // SearXNG has no shorter time than a day
			since = "day"
		}
		parameters.Set("time_range", since)
	}
	r, err := c.request(ctx, "/search", parameters)
	if err != nil {
		return nil, err
	}
	if c.cfg.Key != "" { // of a proxy before the instance
		r.Header.Set("Authorization", "Bearer "+c.cfg.Key)
	}
	var answer struct {
		Results []struct {
			Title   string  `json:"title"`
			URL     string  `json:"url"`
			Content string  `json:"content"`
			Engine  string  `json:"engine"`
			Score   float64 `json:"score"`
		} `json:"results"`
	}
	if err := c.get(r, &answer); err != nil {
		return nil, err
	}
	var found []Result
	for _, x := range answer.Results {
		found = append(found, Result{Title: x.Title, URL: x.URL, Snippet: x.Content, Engine: cmp.Or(x.Engine, "searxng"), Score: x.Score})
	}
	return found, nil
}

type braveResult struct {
	Title       string   `json:"title"`
	URL         string   `json:"url"`
	Description string   `json:"description"`
	Extra       []string `json:"extra_snippets"`
}

// brave asks the Brave Search API.
func (c *Client) brave(ctx context.Context, q Query) ([]Result, error) {
	path := map[knowledge.WebType]string{knowledge.WebNews: "news", knowledge.WebImages: "images", knowledge.WebVideos: "videos"}[q.Type]
	if q.Type == knowledge.WebPatents {
		q.Text += onlyPatents
	}
	parameters := url.Values{"q": {q.Text}, "count": {strconv.Itoa(min(q.Count, mostOfBrave))}}
	if q.Type == knowledge.WebPlaces {
		parameters.Set("result_filter", "locations")
	}
	freshness := map[string]string{"hour": "pd", "day": "pd", "week": "pw", "month": "pm", "year": "py"}[q.Since]
	if freshness != "" && q.Type != knowledge.WebImages { // a search for images takes none
		parameters.Set("freshness", freshness)
	}
	r, err := c.request(ctx, "/res/v1/"+cmp.Or(path, "web")+"/search", parameters)
	if err != nil {
		return nil, err
	}
	r.Header.Set("X-Subscription-Token", c.cfg.Key)
	var answer struct {
		Web, Locations struct {
			Results []braveResult `json:"results"`
		}
		Results []braveResult `json:"results"` // of news, images and videos
	}
	if err := c.get(r, &answer); err != nil {
		return nil, err
	}
	results := answer.Results
	switch q.Type {
	case knowledge.WebPlaces:
		results = answer.Locations.Results
	case "", knowledge.WebPages, knowledge.WebPatents:
		results = answer.Web.Results
	}
	var found []Result
	for _, x := range results {
		snippet := x.Description
		for _, more := range x.Extra {
			snippet += " " + more
		}
		found = append(found, Result{Title: x.Title, URL: x.URL, Snippet: snippet, Engine: "brave"})
	}
	return found, nil
}

// mostOfBrave is how many results Brave gives to a request.
const mostOfBrave = 20

type serperResult struct {
	Title       string `json:"title"`
	Link        string `json:"link"`
	Website     string `json:"website"` // of a place
	Snippet     string `json:"snippet"`
	Address     string `json:"address"`
	Price       string `json:"price"`
	Source      string `json:"source"`
	Publication string `json:"publicationInfo"`
}

// serper asks serper.dev, which answers with Google's results.
func (c *Client) serper(ctx context.Context, q Query) ([]Result, error) {
	kind := string(cmp.Or(q.Type, knowledge.WebPages))
	body := map[string]any{"q": q.Text, "num": q.Count}
	if q.Since != "" {
		body["tbs"] = "qdr:" + q.Since[:1]
	}
	encoded, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode a search: %w", err)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.cfg.URL+"/"+kind, bytes.NewReader(encoded))
	if err != nil {
		return nil, fmt.Errorf("make the request of a search: %w", err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-API-KEY", c.cfg.Key)
	var answer map[string]json.RawMessage
	if err := c.get(r, &answer); err != nil {
		return nil, err
	}
	list := "organic" // of search, scholar and patents
	if _, ok := answer[kind]; ok {
		list = kind
	}
	var results []serperResult
	if raw, ok := answer[list]; ok {
		if err := json.Unmarshal(raw, &results); err != nil {
			return nil, c.failed(false, err)
		}
	}
	var found []Result
	for _, x := range results {
		found = append(found, Result{
			Title: x.Title, URL: cmp.Or(x.Link, x.Website), Engine: "google",
			Snippet: cmp.Or(x.Snippet, x.Address, x.Price+" "+x.Source, x.Publication),
		})
	}
	return found, nil
}

// google asks Google's Custom Search, which ends on 1 January 2027.
func (c *Client) google(ctx context.Context, q Query) ([]Result, error) {
	const most = 10
	if q.Type == knowledge.WebPatents {
		q.Text += onlyPatents
	}
	parameters := url.Values{"key": {c.cfg.Key}, "cx": {c.cfg.Engine}, "q": {q.Text}, "num": {strconv.Itoa(min(q.Count, most))}}
	if restrict := map[string]string{"hour": "d1", "day": "d1", "week": "w1", "month": "m1", "year": "y1"}[q.Since]; restrict != "" {
		parameters.Set("dateRestrict", restrict)
	}
	if q.Type == knowledge.WebImages {
		parameters.Set("searchType", "image")
	}
	r, err := c.request(ctx, "/customsearch/v1", parameters)
	if err != nil {
		return nil, err
	}
	var answer struct {
		Items []struct {
			Title   string `json:"title"`
			Link    string `json:"link"`
			Snippet string `json:"snippet"`
			Image   struct {
				Page string `json:"contextLink"` // that shows the image
			} `json:"image"`
		} `json:"items"`
	}
	if err := c.get(r, &answer); err != nil {
		return nil, err
	}
	var found []Result
	for _, x := range answer.Items {
		found = append(found, Result{Title: x.Title, URL: cmp.Or(x.Image.Page, x.Link), Snippet: x.Snippet, Engine: "google"})
	}
	return found, nil
}
