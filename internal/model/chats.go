package model

import (
	"context"
	"errors"
	"log/slog"
)

// Chats are the chat endpoints of an instance, in the order in which they are asked. It is
// safe for concurrent use.
type Chats struct {
	clients []*Client
	log     *slog.Logger
}

// NewChats returns the endpoints with the first one and those that are asked where it
// fails. They write what they learn of their endpoints to the log.
func NewChats(log *slog.Logger, first *Client, others ...*Client) *Chats {
	clients := append([]*Client{first}, others...)
	for _, c := range clients {
		c.log = log
	}
	return &Chats{clients, log}
}

// Clients returns the clients of the endpoints, in their order.
func (c *Chats) Clients() []*Client { return c.clients }

// Endpoint returns the first endpoint.
func (c *Chats) Endpoint() Endpoint { return c.clients[0].Endpoint() }

// CallTool calls CallTool of the clients until a model answers. failover is as in
// Candidates. The endpoint is the one that answered, or failed last.
func (c *Chats) CallTool(ctx context.Context, r ToolRequest, failover []string) (arguments string, usage Usage, at Endpoint, err error) {
	arguments, err = First(ctx, Candidates(c.clients, r.Model, failover), c.note(ctx), func(candidate Candidate[*Client]) (answer string, err error) {
		call := r
		call.Model, at = candidate.Name, candidate.Client.Endpoint()
		var used Usage
		answer, used, err = candidate.Client.CallTool(ctx, call)
		usage.add(used)
		return answer, err
	})
	return arguments, usage, at, err
}

// ForwardChat calls ForwardChat of the clients until an answer begins. The request names
// the model of the first endpoint. A request that an endpoint refuses as the caller's
// mistake is not sent to another one.
func (c *Chats) ForwardChat(ctx context.Context, body []byte, streamed bool) (*Forwarded, error) {
	var refused error
	answer, err := First(ctx, Candidates(c.clients, "", nil), c.note(ctx), func(candidate Candidate[*Client]) (*Forwarded, error) {
		request := body
		if candidate.Client != c.clients[0] {
			var err error
			if request, err = withModel(body, candidate.Model()); err != nil {
				return nil, err
			}
		}
		answer, err := candidate.Client.ForwardChat(ctx, request, streamed)
		if _, _, mistake := Refused(err); mistake {
			refused = err
			return nil, errRefused
		}
		return answer, err
	})
	if refused != nil {
		return nil, refused
	}
	return answer, err
}

// errRefused ends a failover.
var errRefused = errors.New("the request was refused")

// note logs a model that failed where another one is asked.
func (c *Chats) note(ctx context.Context) func(Failed) {
	return func(f Failed) {
		if f.Next != "" {
			c.log.WarnContext(ctx, "a model failed; the next one is asked", "model", f.Model, "next", f.Next, "error", f.Err)
		}
	}
}
