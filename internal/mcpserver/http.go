package mcpserver

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
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
// cancelled by a later request; its process keeps it in memory. Its id names its caller,
// and nobody else finds it. A request of a session that another process has, or this one
// before it was restarted, is served without one.
type handler struct {
	cfg       Config
	prefix    string // of the ids of this process's sessions
	secret    []byte // of the names of callers in ids
	sessions  http.Handler
	stateless http.Handler
}

// Handler returns the handler of /mcp. Its caller authenticates every request.
func Handler(cfg Config) http.Handler {
	cfg.Log = slog.New(warnings{cfg.Log.Handler()})
	h := &handler{cfg: cfg, prefix: knowledge.NewID() + ".", secret: []byte(rand.Text())}
	cache := mcp.NewSchemaCache()
	server := newServer(cfg, nil, cache)
	// The SDK's check of Host guards servers without authentication against web pages. It
	// would refuse a reverse proxy on the same machine.
	o := mcp.StreamableHTTPOptions{Logger: cfg.Log, DisableLocalhostProtection: true, SessionTimeout: sessionLife, PropagateRequestCancellation: true}
	h.sessions = mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		prefix := h.prefixOf(r)
		return newServer(cfg, func() string { return prefix + knowledge.NewID() }, cache)
	}, &o)
	alone := o
	alone.Stateless, alone.SessionTimeout = true, 0
	h.stateless = mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &alone)
	return h
}

// prefixOf returns the prefix of the ids of the sessions of a request's caller.
func (h *handler) prefixOf(r *http.Request) string {
	mac := hmac.New(sha256.New, h.secret)
	mac.Write([]byte(h.cfg.Caller(r)))
	return h.prefix + hex.EncodeToString(mac.Sum(nil)[:16]) + "."
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
	case session != "" && !strings.HasPrefix(session, h.prefixOf(r)):
		http.Error(w, "session not found", http.StatusNotFound) // the answer for an id that is unknown
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
