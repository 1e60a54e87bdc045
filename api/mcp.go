package api

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/mcpserver"
)

// mcpRoutes holds the route of the MCP server.
type mcpRoutes struct {
	edge     *edge.Edge
	access   Access
	streams  *streams
	leases   *leases
	stopping <-chan struct{}
	version  string
	log      *slog.Logger
}

// mount adds /mcp. It is not in openapi.json: a client reads what it offers from
// tools/list.
func (m *mcpRoutes) mount(e *edge.Edge) {
	handler := mcpserver.Handler(mcpserver.Config{Version: m.version, Connect: m.connect, Caller: callerOf, Stopping: m.stopping, Log: m.log})
	for id, method := range map[string]string{"mcp": http.MethodPost, "mcp-listen": http.MethodGet, "mcp-end": http.MethodDelete} {
		edge.HandleRaw(e, edge.Route{Public: true, Proves: true, Operation: huma.Operation{
			OperationID: id, Method: method, Path: "/mcp", Hidden: true,
		}}, func(w http.ResponseWriter, r *http.Request, _ knowledge.Principal) { m.serve(w, r, handler) })
	}
}

// callerKey is the key in a request's context of who sent it: the key, or the user of the JWT.
type callerKey struct{}

// serve passes a request on to the MCP server. One that stays open counts as a stream.
func (m *mcpRoutes) serve(w http.ResponseWriter, r *http.Request, handler http.Handler) {
	p, err := m.edge.Principal(r, "", access.Acting{})
	if err != nil {
		edge.WriteError(w, r, err)
		return
	}
	caller := strings.Join([]string{p.Workspace(), p.KeyID(), p.Owner()}, "\x00")
	r = r.WithContext(context.WithValue(r.Context(), callerKey{}, caller))
	if r.Method == http.MethodGet {
		release, err := m.streams.open()
		if err != nil {
			edge.WriteError(w, r, err)
			return
		}
		defer release()
		ctx, end := m.leases.hold(r.Context())
		defer end()
		r = r.WithContext(ctx)
	}
	handler.ServeHTTP(w, r)
}

// connect returns a client of this server with the credentials of a request. Its
// requests do not leave the process.
func (m *mcpRoutes) connect(ctx context.Context, header http.Header) (*client.Client, error) {
	given := edge.Credentials(&http.Request{Header: header})
	given.Session = "" // programs connect here, and no pages
	key := given.Bearer
	if key == "" {
		key = given.Key
	}
	p, err := m.access.Authenticate(ctx, given)
	if err != nil {
		edge.RequestLog(ctx).InfoContext(ctx, "a caller of a tool is refused", "error", err)
		refusal := knowledge.AsError(err)
		return nil, fmt.Errorf("%s: %s", refusal.Code, refusal.Message)
	}
	return client.New(client.Config{URL: "http://cairn", Key: key, Workspace: p.Workspace(), HTTP: &http.Client{Transport: loopback{m.edge.Handler()}}})
}

// callerOf returns who sent a request that serve has passed on.
func callerOf(r *http.Request) string {
	caller, _ := r.Context().Value(callerKey{}).(string)
	return caller
}

// loopback is the transport of requests to a handler in the same process.
type loopback struct{ handler http.Handler }

// RoundTrip implements http.RoundTripper. The handler runs until it has answered, or the
// client closes the answer's body.
func (l loopback) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, leave := context.WithCancel(r.Context())
	inner := r.Clone(ctx)
	if inner.Body == nil {
		inner.Body = http.NoBody
	}
	inner.Host, inner.RequestURI = r.URL.Host, r.URL.RequestURI()
	body, pipe := io.Pipe()
	w := &loopbackWriter{header: http.Header{}, pipe: pipe, begun: make(chan struct{})}
	go func() {
		err := io.ErrUnexpectedEOF // a handler that panics cuts its answer off
		defer func() {
			if failure := recover(); failure != nil && failure != http.ErrAbortHandler { //nolint:errorlint // a panic's value; net/http too compares it so
				err = fmt.Errorf("handler panicked: %v", failure)
			}
			w.WriteHeader(http.StatusOK)
			pipe.CloseWithError(err)
		}()
		l.handler.ServeHTTP(w, inner)
		err = nil
	}()
	select {
	case <-w.begun:
	case <-ctx.Done():
		leave()
		_ = body.Close() // nobody reads it
		return nil, ctx.Err()
	}
	return &http.Response{
		Status: http.StatusText(w.status), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.sent, Body: loopbackBody{body, leave}, ContentLength: -1, Request: r,
	}, nil
}

// loopbackBody ends the handler's context when the client has read enough.
type loopbackBody struct {
	io.ReadCloser
	leave context.CancelFunc
}

// Close implements io.Closer.
func (b loopbackBody) Close() error {
	b.leave()
	return b.ReadCloser.Close()
}

// loopbackWriter is the http.ResponseWriter of a request within the process.
type loopbackWriter struct {
	header http.Header
	sent   http.Header // as it was when the answer began
	status int
	pipe   *io.PipeWriter
	begun  chan struct{} // closed when the answer begins
}

// Header implements http.ResponseWriter.
func (w *loopbackWriter) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *loopbackWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status, w.sent = status, w.header.Clone()
		close(w.begun)
	}
}

// Write implements http.ResponseWriter.
func (w *loopbackWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.pipe.Write(p)
}

// Flush implements http.Flusher: nothing is buffered.
func (w *loopbackWriter) Flush() {}
