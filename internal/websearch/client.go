package websearch

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	// timeout bounds one request to a search engine.
	timeout = 15 * time.Second
	// maxAnswer bounds the answer of a search engine, in bytes.
	maxAnswer = 4 << 20
	// maxQuery bounds a query, in code points. Brave takes no longer one.
	maxQuery = 400
	// maxText bounds the title and the snippet of a result, in code points.
	maxText = 1000
	// DefaultCount is how many results a Query asks for unless it says otherwise.
	DefaultCount = 15
	maxCount     = 50
)

// Config names a search engine.
type Config struct {
	// Provider is the search engine. Required.
	Provider knowledge.WebProvider
	// URL is its address. Required for SearXNG, and defaults to the provider's public
	// address otherwise.
	URL string
	// Key is sent to providers that want one.
	Key string
	// Engine is the id of the Programmable Search Engine, for Google only.
	Engine string
	// Rules hold for all searches: pages of Never are left out, pages of Bonus are preferred.
	Rules Rules
}

// Client asks one search engine. It is safe for concurrent use.
type Client struct {
	cfg  Config
	http *http.Client
	ask  func(ctx context.Context, q Query) ([]Result, error)
}

// Query is what is looked for.
type Query struct {
	Text  string
	Type  knowledge.WebType // "" = knowledge.WebPages
	Since string            // hour, day, week, month or year; "" = any time
	// Only are the domains whose pages are wanted. The engine is asked for these, and
	// the caller checks what it returns.
	Only  Domains
	Count int // 0 = DefaultCount
}

// Result is a page that a search engine found.
type Result struct {
	Title   string  `json:"title"`
	URL     string  `json:"url"`
	Snippet string  `json:"snippet"`
	Engine  string  `json:"engine"`
	Score   float64 `json:"score"` // between 0 and 1, 1 = the best of the search
}

// New returns a Client. If client is nil, it uses one with a timeout.
func New(cfg Config, client *http.Client) (*Client, error) {
	if client == nil {
		client = &http.Client{Timeout: timeout}
	}
	c := &Client{cfg: cfg, http: client}
	c.cfg.URL = strings.TrimSuffix(cmp.Or(cfg.URL, publicURL[cfg.Provider]), "/")
	switch cfg.Provider {
	case knowledge.SearXNG:
		c.ask = c.searxng
	case knowledge.Brave:
		c.ask = c.brave
	case knowledge.Serper:
		c.ask = c.serper
	case knowledge.Google:
		c.ask = c.google
	default:
		return nil, fmt.Errorf("web search provider %q is unknown", cfg.Provider)
	}
	if c.cfg.URL == "" {
		return nil, fmt.Errorf("web search provider %s needs an address", cfg.Provider)
	}
	return c, nil
}

var publicURL = map[knowledge.WebProvider]string{
	knowledge.Brave: "https://api.search.brave.com", knowledge.Serper: "https://google.serper.dev", knowledge.Google: "https://customsearch.googleapis.com",
}

// Provider returns the search engine.
func (c *Client) Provider() knowledge.WebProvider { return c.cfg.Provider }

// Search returns what the search engine found, best first and each page once. A type
// that the engine does not have is CodeInvalid. A failure of the engine is
// CodeProviderFailed.
func (c *Client) Search(ctx context.Context, q Query) ([]Result, error) {
	if !c.cfg.Provider.Has(q.Type) {
		return nil, knowledge.Errorf(knowledge.CodeInvalid, "%s has no search for %s; choose another tools.web_search.type", string(c.cfg.Provider), string(q.Type))
	}
	q.Text = queryText(q)
	q.Count = min(cmp.Or(q.Count, DefaultCount), maxCount)
	found, err := c.ask(ctx, q)
	if err != nil {
		return nil, err
	}
	return c.cfg.Rules.apply(tidy(found, q.Count)), nil
}

// queryText returns the words for the engine. Patents are pages of a site, for engines
// without a search of their own for them.
func queryText(q Query) string {
	text := strings.Join(strings.Fields(q.Text), " ")
	if runes := []rune(text); len(runes) > maxQuery {
		text = string(runes[:maxQuery])
	}
	if sites := q.Only.operators(); len([]rune(text))+len(sites) < maxQuery {
		text += sites
	}
	return text
}

// tidy drops results without an address and repeated ones, and scales the scores.
func tidy(found []Result, count int) []Result {
	kept := make([]Result, 0, len(found))
	best := 0.0
	for i, r := range found {
		if r.URL == "" || slices.ContainsFunc(kept, func(k Result) bool { return k.URL == r.URL }) {
			continue
		}
		if r.Score <= 0 {
			r.Score = 1 / float64(i+1)
		}
		best = max(best, r.Score)
		r.Title, r.Snippet = clean(r.Title), clean(r.Snippet)
		r.Title = cmp.Or(r.Title, r.URL)
		if kept = append(kept, r); len(kept) == count {
			break
		}
	}
	for i := range kept {
		kept[i].Score /= best
	}
	return kept
}

// clean returns words of a search engine on one line, without markup.
func clean(text string) string {
	text = markup.Replace(strings.ToValidUTF8(text, "\uFFFD"))
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f || r == '\u00a0' }), " ")
	return knowledge.Cut(text, maxText)
}

// markup removes the tags with which engines mark the words of the query.
var markup = strings.NewReplacer("<b>", "", "</b>", "", "<strong>", "", "</strong>", "", "<em>", "", "</em>", "", "&#x27;", "'", "&quot;", `"`, "&amp;", "&")

// get sends a request and decodes the answer into v.
func (c *Client) get(r *http.Request, v any) error {
	r.Header.Set("Accept", "application/json")
	r.Header.Set("User-Agent", "cairn")
	response, err := c.http.Do(r)
	if err != nil {
		if ctx := r.Context(); ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return c.failed(true, err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return c.failed(true, err)
	}
	if response.StatusCode != http.StatusOK {
		retryable := response.StatusCode == http.StatusTooManyRequests || response.StatusCode >= http.StatusInternalServerError
		failure := c.failed(retryable, fmt.Errorf("status %d%s", response.StatusCode, c.hint(response.StatusCode)))
		failure.Message = fmt.Sprintf("the search engine %s refused the search with status %d; try again later, or ask your administrator", c.cfg.Provider, response.StatusCode)
		if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil && retryable && seconds >= 0 && seconds <= 60 {
			failure.RetryAfter = time.Duration(seconds) * time.Second
		}
		return failure
	}
	if err := json.Unmarshal(body, v); err != nil {
		what := "an answer that is not the JSON of a search"
		if bytes.HasPrefix(bytes.TrimSpace(body), []byte("<")) {
			what = "a web page in place of JSON"
		}
		failure := c.failed(false, errors.New(what+": check that web_search.url is the address of its API"))
		failure.Message = fmt.Sprintf("the search engine %s sent %s; ask your administrator", c.cfg.Provider, what)
		return failure
	}
	return nil
}

// hint says what a status usually means, for the log.
func (c *Client) hint(status int) string {
	switch {
	case status == http.StatusForbidden && c.cfg.Provider == knowledge.SearXNG:
		return ": SearXNG answers so where search.formats of its settings.yml has no json, or its limiter blocks the address"
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return ": check web_search.key"
	}
	return ""
}

// failed returns the error of a search engine. The address of a request may hold the
// key, so the error of the exchange is logged without it.
func (c *Client) failed(retryable bool, err error) *knowledge.Error {
	if e, ok := errors.AsType[interface {
		error
		Timeout() bool
		Unwrap() error
	}](err); ok {
		err = e.Unwrap()
	}
	failure := knowledge.Errorf(knowledge.CodeProviderFailed, "the search engine %s did not answer; try again later", string(c.cfg.Provider)).WithCause(err)
	failure.Retryable = retryable
	return failure
}
