package model

import (
	"context"
	"log/slog"
	"net/http"
	"sync/atomic"

	openai "github.com/sashabaranov/go-openai"
)

// Client calls one Endpoint. A process makes one Client for each endpoint, so that all
// its callers share what the client learns of the endpoint's limits. It is safe for
// concurrent use.
type Client struct {
	endpoint Endpoint
	api      *openai.Client
	refused  capabilities
	options  *knownOptions
	thinks   *knownThinkers
	client   *http.Client
	pacer    *pacer       // of embeddings and pictures
	texts    atomic.Int64 // the most texts that LimitTexts allows; 0 = no limit
	others   []*Client    // for embeddings, pictures and transcripts where this one fails
	log      *slog.Logger // of these failures
}

// WithFailover returns a client of the same endpoint whose embeddings, pictures and
// transcripts come from the first of the others that answers, where the endpoint fails. For
// embeddings all have the same model.
func (c *Client) WithFailover(log *slog.Logger, others ...*Client) *Client {
	next := New(c.endpoint, c.client)
	next.pacer, next.others, next.log, next.options, next.thinks = c.pacer, others, log, c.options, c.thinks
	return next
}

// all returns the client and those that are asked where it fails.
func (c *Client) all() []*Client { return append([]*Client{c}, c.others...) }

// note logs an endpoint that failed where another one is asked.
func (c *Client) note(ctx context.Context) func(Failed) {
	return func(f Failed) {
		if f.Next != "" {
			c.log.WarnContext(ctx, "a model failed; the next one is asked", "model", f.Model, "next", f.Next, "error", f.Err)
		}
	}
}

// capabilities are the options of embeddings that an endpoint has refused, so that each is
// tried only once.
type capabilities struct {
	dimensions, base64 atomic.Bool
}

// New returns a Client. If client is nil, it uses NewHTTPClient().
func New(endpoint Endpoint, client *http.Client) *Client {
	if client == nil {
		client = NewHTTPClient()
	}
	endpoint = endpoint.withDefaults()
	config := endpoint.config()
	config.HTTPClient = doer{client}
	return &Client{
		endpoint: endpoint, api: openai.NewClientWithConfig(config), client: client, pacer: &pacer{}, options: &knownOptions{}, thinks: &knownThinkers{},
	}
}

// As returns a Client of another embedding model at the same endpoint. The two share the
// turns of the endpoint.
func (c *Client) As(name string, dimensions int) *Client {
	endpoint := c.endpoint
	if name != endpoint.Model {
		endpoint.Deployment = ""
	}
	endpoint.Model, endpoint.Dimensions = name, dimensions
	other := New(endpoint, c.client)
	other.pacer, other.log = c.pacer, c.log
	for _, o := range c.others {
		other.others = append(other.others, o.As(name, dimensions))
	}
	return other
}

// Endpoint returns the endpoint with its defaults filled in.
func (c *Client) Endpoint() Endpoint { return c.endpoint }

// Models returns the names of the models that the endpoint offers, in the
// endpoint's order. It is also the cheapest check that the endpoint answers.
func (c *Client) Models(ctx context.Context) ([]string, error) {
	x := newExchange(ctx, c.endpoint)
	defer x.close()
	list, err := c.api.ListModels(x.ctx)
	if err != nil {
		return nil, x.callError("list models", err)
	}
	names := make([]string, 0, len(list.Models))
	for _, m := range list.Models {
		names = append(names, m.ID)
	}
	return names, nil
}
