package e2e_test

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/client"
)

// socketOf returns the address of a run's events over WebSocket, behind one of them.
func (s *server) socketOf(run string, after int64) string {
	return "ws" + strings.TrimPrefix(s.ends.API, "http") + "/workspaces/default/websocket?compact=true&runId=" + run + "&after=" + itoa(after)
}

// overSocket reads events from a WebSocket with the admin key, until the server closes it,
// which must be in order, or n events have come; 0 = all.
func (s *server) overSocket(t *testing.T, address string, n int) (list []event) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	conn, res, err := websocket.Dial(ctx, address, &websocket.DialOptions{HTTPHeader: http.Header{"Authorization": {"Bearer " + s.key}}})
	if err != nil {
		t.Fatalf("%v: %v", res, err)
	}
	defer func() { _ = conn.CloseNow() }() // the server has closed it, or the reader leaves
	conn.SetReadLimit(-1)
	for n == 0 || len(list) < n {
		_, data, err := conn.Read(ctx)
		if websocket.CloseStatus(err) == websocket.StatusNormalClosure {
			return list
		}
		if err != nil {
			t.Fatalf("after %d events: %v", len(list), err)
		}
		var message struct {
			ID    int64
			Event string
			Data  json.RawMessage
		}
		if err := json.Unmarshal(data, &message); err != nil {
			t.Fatalf("%v: %s", err, data)
		}
		list = append(list, event{ID: message.ID, Name: message.Event, Data: message.Data})
	}
	return list
}

// wantSocket asks a question whose events come over a WebSocket, and checks that its readers
// get the events of the run, at any time and behind any event.
func (s *server) wantSocket(t *testing.T, question, whole string) {
	var accepted struct{ RunID, WebSocketURL string }
	body := map[string]any{"text": question, "projectId": "default", "stream": true}
	if status := s.call(t, "POST", webhooks+"/query", body, &accepted); status != http.StatusAccepted {
		t.Fatalf("the question returned %d, want 202", status)
	}
	first := s.overSocket(t, accepted.WebSocketURL+"&compact=true", 5)
	all := slices.Concat(first, s.overSocket(t, s.socketOf(accepted.RunID, 5), 0))
	if diff := cmp.Diff(s.follow(t, accepted.RunID, 0), all); diff != "" {
		t.Errorf("events (-over SSE +over WebSocket, in two connections):\n%s", diff)
	}
	if got := names(all); got != whole {
		t.Errorf("events %s, want %s", got, whole)
	}
	ended := s.overSocket(t, accepted.WebSocketURL, 0)
	if len(ended) != len(all) {
		t.Errorf("a reader of the ended run got %d events of %d", len(ended), len(all))
	}
	var chunk struct{ Concatenated struct{ Value string } }
	for _, e := range ended {
		if e.Name == client.EventChunk {
			e.decode(t, &chunk)
		}
	}
	wantSame(t, "the concatenated value", chunk.Concatenated.Value, read(t, all).answer.Text)
	if more := s.overSocket(t, s.socketOf(accepted.RunID, all[len(all)-1].ID), 0); len(more) != 0 {
		t.Errorf("behind the last event came %v", more)
	}
}
