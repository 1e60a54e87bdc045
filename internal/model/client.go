package model

import (
	"context"
	"net/http"
	"sync/atomic"

	openai "github.com/sashabaranov/go-openai"
)

// Client calls one Endpoint. It is safe for concurrent use.
type Client struct {
	endpoint Endpoint
	api      *openai.Client
	lacks    capabilities
}

// capabilities are what an endpoint turned out not to accept, so that it is
// asked in vain once only.
type capabilities struct {
	streamOptions, dimensions, base64 atomic.Bool
}

// New makes a Client. A nil client stands for NewHTTPClient().
func New(endpoint Endpoint, client *http.Client) *Client {
	if client == nil {
		client = NewHTTPClient()
	}
	endpoint = endpoint.withDefaults()
	config := openai.DefaultConfig(endpoint.APIKey)
	config.BaseURL = endpoint.BaseURL
	config.HTTPClient = doer{client}
	// Some endpoints send a comment every second while they think. The waits and
	// the size are bounded by us, so their number need not be.
	config.EmptyMessagesLimit = 20_000
	return &Client{endpoint: endpoint, api: openai.NewClientWithConfig(config)}
}

// Endpoint gives the endpoint, with its defaults filled in.
func (c *Client) Endpoint() Endpoint { return c.endpoint }

// Models lists the names of the models that the endpoint offers, as it sorts
// them. It is also the cheapest proof that the endpoint is there.
func (c *Client) Models(ctx context.Context) ([]string, error) {
	x := newExchange(ctx, c.endpoint)
	defer x.close()
	list, err := c.api.ListModels(x.ctx)
	if err != nil {
		return nil, x.explain("list models", err)
	}
	names := make([]string, 0, len(list.Models))
	for _, m := range list.Models {
		names = append(names, m.ID)
	}
	return names, nil
}
