package mcpserver

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cairn-rag/cairn/internal/client"
)

// Config is what a server works with.
type Config struct {
	// Version is the program's version. Required.
	Version string
	// Connect returns the client with which a request is served, by the headers of the
	// HTTP request that brought it; they are nil over stdio. Required.
	Connect func(ctx context.Context, header http.Header) (*client.Client, error)
	// Caller names who sent a request over HTTP. A session belongs to the caller that
	// began it. Required over HTTP.
	Caller func(*http.Request) string
	// Stopping is closed when the process stops: calls that wait for a run end then, and
	// the run continues. Defaults to never.
	Stopping <-chan struct{}
	// Log is where the protocol's errors go. Required.
	Log *slog.Logger
}

// instructions tells a model how the tools belong together.
const instructions = "Cairn answers questions from documents, with citations. ask_project answers a question with a project's own tools and settings; " +
	"rag_search answers from documents alone. A citation [n] names the nth source, and get_chunk reads its passage by the source's chunk id."

// New returns an MCP server with Cairn's tools.
func New(cfg Config) *mcp.Server { return newServer(cfg, nil, nil) }

// newServer is New with the ids that sessions over HTTP get, nil = the SDK's, and with a
// cache of the tools' schemas, nil = none.
func newServer(cfg Config, sessionID func() string, cache *mcp.SchemaCache) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "cairn", Title: "Cairn", Version: cfg.Version}, &mcp.ServerOptions{
		Instructions: instructions, Logger: cfg.Log, Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}, GetSessionID: sessionID, SchemaCache: cache,
	})
	t := tools{cfg}
	t.addAnswers(s)
	t.addDocuments(s)
	return s
}

// tools are the handlers of the tools.
type tools struct{ cfg Config }

// errStopping ends the calls that wait for a run when the process stops.
var errStopping = errors.New("unavailable: the server is stopping; the run continues, call the tool again shortly")

// cancelPatience bounds the request that cancels the run of a cancelled call.
const cancelPatience = 10 * time.Second

// connect returns the client for the caller of a tool.
func (t tools) connect(ctx context.Context, r *mcp.CallToolRequest) (*client.Client, error) {
	var header http.Header
	if extra := r.GetExtra(); extra != nil {
		header = extra.Header
	}
	return t.cfg.Connect(ctx, header)
}

// untilStopping returns a context that ends with errStopping when the process stops.
func (t tools) untilStopping(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, leave := context.WithCancelCause(ctx)
	go func() {
		select {
		case <-t.cfg.Stopping:
			leave(errStopping)
		case <-ctx.Done():
		}
	}()
	return ctx, func() { leave(nil) }
}
