package mcpserver

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	sessionHeader = "Mcp-Session-Id"
	versionHeader = "Mcp-Protocol-Version"
	// sessionless is the protocol version from which on there are no sessions.
	sessionless = "2026-07-28"
	// sessionLife is how long a session may be idle. It holds no data but the calls that
	// run.
	sessionLife = time.Hour
)

// handler serves MCP over streamable HTTP. A session exists so that a call can be
// cancelled by a later request; its process keeps it in memory. A request of a session
// that another process has, or this one before it was restarted, is served without one.
type handler struct {
	cfg       Config
	prefix    string // of the ids of this process's sessions
	sessions  http.Handler
	stateless http.Handler
}

// Handler returns the handler of /mcp. Its caller authenticates every request.
func Handler(cfg Config) http.Handler {
	cfg.Log = slog.New(warnings{cfg.Log.Handler()})
	h := &handler{cfg: cfg, prefix: knowledge.NewID() + "."}
	server, named := New(cfg), newServer(cfg, func() string { return h.prefix + knowledge.NewID() })
	// The SDK's check of Host guards servers without authentication against web pages. It
	// would refuse a reverse proxy on the same machine.
	o := mcp.StreamableHTTPOptions{Logger: cfg.Log, DisableLocalhostProtection: true, SessionTimeout: sessionLife, PropagateRequestCancellation: true}
	h.sessions = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return named }, &o)
	alone := o
	alone.Stateless, alone.SessionTimeout = true, 0
	h.stateless = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &alone)
	return h
}

// warnings drops what the SDK logs of each session and request.
type warnings struct{ slog.Handler }

// Enabled implements slog.Handler.
func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}

// WithAttrs implements slog.Handler.
func (w warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{w.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (w warnings) WithGroup(name string) slog.Handler { return warnings{w.Handler.WithGroup(name)} }

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	session := r.Header.Get(sessionHeader)
	foreign := session != "" && !strings.HasPrefix(session, h.prefix)
	switch {
	case r.Header.Get(versionHeader) >= sessionless:
		h.stateless.ServeHTTP(w, r)
	case foreign && r.Method == http.MethodDelete:
		w.WriteHeader(http.StatusNoContent)
	case foreign:
		h.stateless.ServeHTTP(w, r)
	case r.Method == http.MethodGet:
		h.listen(w, r)
	default:
		h.sessions.ServeHTTP(w, r)
	}
}

// listen serves the stream on which a session would be sent what no request asked for. It
// ends when the process stops.
func (h *handler) listen(w http.ResponseWriter, r *http.Request) {
	ctx, leave := context.WithCancel(r.Context())
	defer leave()
	go func() {
		select {
		case <-h.cfg.Stopping:
			leave()
		case <-ctx.Done():
		}
	}()
	h.sessions.ServeHTTP(w, r.WithContext(ctx))
}
