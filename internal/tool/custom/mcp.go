package custom

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/tool"
)

const (
	// listingLife is how long the tools of an MCP server are remembered.
	listingLife = 5 * time.Minute
	// listingTime bounds the request for the tools of a server.
	listingTime = 10 * time.Second
	// maxTools bounds the tools of a server that a model is offered.
	maxTools = 64
	// maxExchange bounds the bytes of one answer of a server.
	maxExchange = 8 << 20
)

// served is an MCP server as the tools of a project reach it.
type served struct {
	knowledge.MCP

	Need knowledge.SecretNeed // without the host
}

// offer is a tool of an MCP server.
type offer struct {
	name, description string
	schema            json.RawMessage
	repeats           bool // the server says that a repeated call changes nothing more
}

// listing is what a server said of its tools.
type listing struct {
	offers []offer
	until  time.Time
}

// mcpTools returns the tools of an MCP server. name_tool is the name of each, so that two
// servers do not clash. A server that cannot be reached has one tool instead, which
// fails and names this reason.
func (t *Tools) mcpTools(ctx context.Context, name string, c knowledge.CustomTool, need knowledge.SecretNeed) tool.Set {
	offers := declared(c.MCP.Tools)
	if len(offers) == 0 {
		var err error
		if offers, err = t.listed(ctx, served{*c.MCP, need}); err != nil {
			return tool.Set{unreachable(name, c.Description)}
		}
	}
	var set tool.Set
	for _, o := range offers {
		full := name + "_" + o.name
		if !tool.IsName(full) {
			continue // no model could call it
		}
		set = append(set, tool.Tool{
			Name: full, Description: strings.TrimSpace(c.Description + "\n" + o.description), Parameters: o.schema, Limit: Limit, Once: !o.repeats,
			Run: func(ctx context.Context, call tool.Call) (tool.Output, error) {
				return t.callMCP(ctx, served{*c.MCP, need}, o.name, call)
			},
		})
	}
	return set
}

// declared returns the tools that the project itself describes. They are the only ones
// that are offered then.
func declared(tools []knowledge.MCPTool) []offer {
	var offers []offer
	for _, o := range tools {
		offers = append(offers, offer{name: o.Name, description: o.Description, schema: tool.ObjectSchema(o.InputSchema)})
	}
	return offers
}

// unreachable is a tool in place of the tools of a server that cannot be reached.
func unreachable(name, description string) tool.Tool {
	return tool.Tool{
		Name: name, Description: strings.TrimSpace(description + "\nIts server cannot be reached now."), Parameters: tool.ObjectSchema(nil),
		Run: func(context.Context, tool.Call) (tool.Output, error) {
			return tool.Output{}, knowledge.Errorf(knowledge.CodeInvalid, "the MCP server of the tool cannot be reached now; continue without it")
		},
	}
}

// listed returns the tools of a server: those that were remembered, or else those that it
// lists now. If it does not answer, those that it listed last stay.
func (t *Tools) listed(ctx context.Context, server served) ([]offer, error) {
	key, err := json.Marshal(server) // another project may have other secrets of the same names
	if err != nil {
		return nil, fmt.Errorf("name a server: %w", err)
	}
	t.mu.Lock()
	known, ok := t.listings[string(key)]
	t.mu.Unlock()
	if ok && time.Now().Before(known.until) {
		return known.offers, nil
	}
	ctx, cancel := context.WithTimeout(ctx, listingTime)
	defer cancel()
	offers, err := t.list(ctx, server)
	if err != nil && !ok {
		return nil, err
	}
	if err != nil {
		offers = known.offers
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.listings[string(key)] = listing{offers, time.Now().Add(listingLife)}
	return offers, nil
}

func (t *Tools) list(ctx context.Context, server served) ([]offer, error) {
	session, err := t.connect(ctx, server, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = session.Close() }() // the tools are there
	var offers []offer
	for found, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, fmt.Errorf("list the tools of a server: %w", err)
		}
		schema, err := json.Marshal(found.InputSchema)
		if err != nil || tool.CheckSchema(schema) != nil {
			continue // no arguments could be checked
		}
		o := offer{name: found.Name, description: found.Description, schema: schema}
		if a := found.Annotations; a != nil {
			o.repeats = a.ReadOnlyHint || a.IdempotentHint
		}
		if offers = append(offers, o); len(offers) == maxTools {
			break
		}
	}
	return offers, nil
}

// connect opens a session by streamable HTTP, or by SSE where the server is older.
func (t *Tools) connect(ctx context.Context, server served, progress func(*mcp.ProgressNotificationParams)) (*mcp.ClientSession, error) {
	address, err := url.Parse(server.URL)
	if err != nil {
		return nil, knowledge.Errorf(knowledge.CodeInvalid, "the address of the MCP server is wrong")
	}
	server.Need.Host = address.Hostname()
	header, err := t.header(ctx, server.Headers, server.Need)
	if err != nil {
		return nil, err
	}
	client := *t.client
	client.Transport = withHeader{client.Transport, header, address.Host}
	options := &mcp.ClientOptions{ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
		if progress != nil {
			progress(r.Params)
		}
	}}
	own := mcp.NewClient(&mcp.Implementation{Name: "cairn", Version: "1"}, options)
	streamable := &mcp.StreamableClientTransport{Endpoint: server.URL, HTTPClient: &client, MaxRetries: -1, DisableStandaloneSSE: true, MaxEventSize: maxExchange}
	session, err := own.Connect(ctx, streamable, nil)
	if err == nil || ctx.Err() != nil || refused(err) {
		return session, err
	}
	older, second := own.Connect(ctx, &mcp.SSEClientTransport{Endpoint: server.URL, HTTPClient: &client, MaxEventSize: maxExchange}, nil)
	if second != nil {
		return nil, errors.Join(err, second)
	}
	return older, nil
}

// refused reports whether an address must not be dialled.
func refused(err error) bool {
	e, ok := errors.AsType[*knowledge.Error](err)
	return ok && !e.Retryable
}

// callMCP calls a tool of a server. The words of the tool are the output, also if it
// reports that it failed: these are words from outside, which belong into a blob.
func (t *Tools) callMCP(ctx context.Context, server served, name string, call tool.Call) (tool.Output, error) {
	session, err := t.connect(ctx, server, func(p *mcp.ProgressNotificationParams) {
		call.Show("progress", map[string]any{"progress": p.Progress, "total": p.Total, "message": p.Message})
	})
	if err != nil {
		return tool.Output{}, notReached(err)
	}
	defer func() { _ = session.Close() }() // the output is there
	params := &mcp.CallToolParams{Name: name, Arguments: json.RawMessage(call.Arguments)}
	params.SetProgressToken(call.IdempotencyKey())
	result, err := session.CallTool(ctx, params)
	if err != nil {
		return tool.Output{}, notReached(err)
	}
	output := tool.Output{Words: said(result)}
	output.Summary = "an answer, " + tool.Size(len(output.Words))
	if result.IsError {
		output.Words, output.Failure = "The tool reports an error: "+output.Words, "the tool of the MCP server reports an error"
	}
	return output, nil
}

func notReached(err error) error {
	if refused(err) {
		return err
	}
	return &knowledge.Error{Code: knowledge.CodeUnavailable, Retryable: true, Cause: err, Message: "the MCP server did not answer the call"}
}

// said returns the words of a result. Of other content there is only its kind.
func said(result *mcp.CallToolResult) string {
	var words []string
	for _, content := range result.Content {
		switch content := content.(type) {
		case *mcp.TextContent:
			words = append(words, content.Text)
		case *mcp.EmbeddedResource:
			if content.Resource != nil && content.Resource.Text != "" {
				words = append(words, content.Resource.Text)
			}
		case *mcp.ResourceLink:
			words = append(words, content.Name+": "+content.URI)
		default:
			words = append(words, "(content that is not text was left out)")
		}
	}
	if len(words) == 0 && result.StructuredContent != nil {
		if encoded, err := json.Marshal(result.StructuredContent); err == nil {
			words = append(words, string(encoded))
		}
	}
	if len(words) == 0 {
		return "The tool said nothing."
	}
	return strings.ToValidUTF8(strings.Join(words, "\n"), "\ufffd")
}

// withHeader adds headers to requests, and bounds the answers.
type withHeader struct {
	next   http.RoundTripper
	header http.Header
	host   string // the only one that gets the header: a server may name another one for its messages
}

// RoundTrip implements http.RoundTripper.
func (w withHeader) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if r.URL.Host == w.host {
		for name, values := range w.header {
			r.Header[name] = values
		}
	}
	response, err := w.next.RoundTrip(r)
	if err == nil {
		response.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(response.Body, maxExchange), response.Body}
	}
	return response, err
}
