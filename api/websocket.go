package api

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"
	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// closeTooSlow is the close code for a reader that left unread what was sent. RFC 6455
// leaves 4000 and above to applications; this one is like HTTP's 408.
const closeTooSlow websocket.StatusCode = 4008

// socketWindow is how many bytes a reader is sent before it must have read them. It is
// below what the kernel buffers of a connection, so that the close frame of a reader
// that is too slow still fits.
const socketWindow = 32 << 10

// socketMessage is one message of the WebSocket.
type socketMessage struct {
	ID    int64           `json:"id"`
	Event string          `json:"event"`
	Data  json.RawMessage `json:"data"`
}

// webSocketInput describes the parameters of the WebSocket route; serveWebSocket reads
// them itself, as runEvents does.
type webSocketInput struct {
	edge.ActingQuery
	Workspace string `path:"workspaceId"`
	Run       string `query:"runId" required:"true" maxLength:"200" doc:"The run to follow"`
	After     string `query:"after" doc:"Send the events after this id; 0 = all"`
	Token     string `query:"token" doc:"The token of a webSocketUrl; replaces a key"`
	Compact   bool   `query:"compact" doc:"Omit concatenated from apiMessageChunk"`
}

func (er *eventRoutes) mountWebSocket(e *edge.Edge) {
	edge.Handle(e, edge.Route{Public: true, Proves: true, Operation: huma.Operation{
		OperationID: "websocket", Method: http.MethodGet, Path: "/workspaces/{workspaceId}/websocket", Summary: "Follow a run's events over a WebSocket", Tags: []string{"runs"},
		Description: "Each message is the JSON {id, event, data} of one event (docs/events.md).",
		Responses:   map[string]*huma.Response{"101": {Description: "Switching to WebSocket"}},
	}}, func(context.Context, knowledge.Principal, *webSocketInput) (*huma.StreamResponse, error) {
		return rawResponse(er.serveWebSocket), nil
	})
}

// serveWebSocket sends a run's events, one message each, and closes the connection after
// the last one.
//
// Pages of every origin may connect with a token or a key that somebody gave them, so
// Accept does not compare origins. A browser adds the cookie of a session to the
// connections of any page: there package edge compares them, before this function runs.
func (er *eventRoutes) serveWebSocket(w http.ResponseWriter, r *http.Request) {
	if !isUpgrade(r) {
		edge.WriteError(w, r, knowledge.Errorf(knowledge.CodeMalformed, "connect with a WebSocket client; GET /runs/{run_id}/events sends the same events over plain HTTP"))
		return
	}
	in, err := er.readers.readingOf(r, r.URL.Query().Get("runId"))
	if err != nil {
		edge.WriteError(w, r, err)
		return
	}
	release, err := er.streams.open()
	if err != nil {
		edge.WriteError(w, r, err)
		return
	}
	defer release()
	w.Header().Set(runHeader, in.run.ID)
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		er.logBreak(r.Context(), in, fmt.Errorf("accept a WebSocket: %w", err))
		return
	}
	defer func() { _ = conn.CloseNow() }() // a connection that was closed in order is closed already
	socket := &socket{conn: conn, last: in.after, patience: er.streamPatience}
	ctx := conn.CloseRead(r.Context()) // the reader sends nothing but pongs
	socket.ctx = ctx
	err = er.sendEvents(ctx, in, socket)
	er.logBreak(ctx, in, err)
	socket.close(err)
}

// isUpgrade reports whether a request opens a WebSocket as RFC 6455 says.
func isUpgrade(r *http.Request) bool {
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(r.Header.Get("Sec-WebSocket-Key")))
	return err == nil && len(key) == 16 && r.Header.Get("Sec-WebSocket-Version") == "13" &&
		strings.EqualFold(r.Header.Get("Upgrade"), "websocket") && strings.Contains(strings.ToLower(r.Header.Get("Connection")), "upgrade")
}

// socket is the eventSink of a WebSocket.
type socket struct {
	ctx      context.Context // ends when the connection does
	conn     *websocket.Conn
	patience time.Duration
	last     int64 // the last event that was sent, or that the reader had
	unread   int   // bytes that were sent since the reader last showed that it reads
}

// errTooSlow ends the stream of a reader that leaves unread what it is sent.
var errTooSlow = errors.New("the reader of a WebSocket is too slow")

// Event implements eventSink.
func (s *socket) Event(id int64, event string, data []byte) error {
	message, err := json.Marshal(socketMessage{id, event, data})
	if err != nil {
		return fmt.Errorf("encode event %d: %w", id, err)
	}
	if s.unread > 0 && s.unread+len(message) > socketWindow {
		if err := s.Alive(); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.patience*time.Duration(1+len(message)/socketWindow))
	defer cancel()
	if err := s.conn.Write(ctx, websocket.MessageText, message); err != nil {
		return fmt.Errorf("write event %d: %w", id, err)
	}
	s.last, s.unread = id, s.unread+len(message)
	return nil
}

// Alive implements eventSink. It blocks until the reader has read what was sent: frames
// arrive in order, so the answer to a ping shows it.
func (s *socket) Alive() error {
	ctx, cancel := context.WithTimeout(s.ctx, s.patience)
	defer cancel()
	if err := s.conn.Ping(ctx); err != nil {
		if s.ctx.Err() == nil && ctx.Err() != nil {
			return errTooSlow
		}
		return fmt.Errorf("ping: %w", err)
	}
	s.unread = 0
	return nil
}

// close ends the connection with the reason for which the stream ended.
func (s *socket) close(err error) {
	again := fmt.Sprintf("connect again with after=%d", s.last)
	code, reason := websocket.StatusNormalClosure, "the run has ended"
	switch {
	case err == nil:
	case errors.Is(err, errStopping):
		code, reason = websocket.StatusServiceRestart, "the server is stopping; "+again
	case errors.Is(err, errKeyEnded):
		code, reason = websocket.StatusPolicyViolation, errKeyEnded.Message
	case errors.Is(err, errTooSlow):
		code, reason = closeTooSlow, "events were not read in time; "+again
	default:
		code, reason = websocket.StatusInternalError, "the events cannot be read now; "+again
	}
	_ = s.conn.Close(code, reason) // what fails is the connection
}
