package e2e_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// shownFigure is what the last call of a model had of a figure.
type shownFigure struct {
	pictures  int
	described bool
}

// shown asks about the figure of TestMultimodal for a user, "" = none. It returns what the
// model that answers was shown of it. With a change the model calls a tool first, and the
// change is made while it is asked for that.
func (s *server) shown(t *testing.T, m *modeltest.Server, user string, change func()) shownFigure {
	t.Helper()
	asked, released := m.Totals().Chats.Asked, make(chan struct{})
	if change != nil {
		call := modeltest.Call(model.ToolCall{ID: "call", Name: "documents_rag", Arguments: `{"query":"revenue of the Quayside mill"}`})
		call.Until = released
		m.ScriptChat(call, modeltest.Text("Revenue grows."))
	}
	run := s.ask(t, webhooks+"/query", map[string]any{"text": "How did the revenue of the Quayside mill grow?", "projectId": "default", "userId": user, "sse": true})
	if change != nil {
		await(t, time.Minute, "the model is asked", func(context.Context) error {
			if n := m.Totals().Chats.Asked; n == asked {
				return fmt.Errorf("asked %d times", n)
			}
			return nil
		})
		if got := lastShown(m); got != (shownFigure{1, true}) {
			t.Errorf("the first call had %+v", got)
		}
		change()
		close(released)
	}
	if list := s.follow(t, run.run, 0); list[len(list)-1].Name != client.EventCompleted {
		t.Fatalf("events %s", names(list))
	}
	return lastShown(m)
}

// lastShown returns what the last request to the model had of the figure.
func lastShown(m *modeltest.Server) (shown shownFigure) {
	requests := m.Requests()
	for _, message := range requests[len(requests)-1].Messages {
		shown.pictures += len(message.Pictures)
		shown.described = shown.described || strings.Contains(string(message.Content), "revenue of the Quayside mill grows from 40")
	}
	return shown
}
