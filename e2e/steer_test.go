package e2e_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// longReply is an answer that is under way for as long as a test may need.
func longReply() modeltest.Reply {
	return modeltest.Reply{Tokens: 3000, TokenDelay: 20 * time.Millisecond}
}

// hasWords reports whether words of an answer have come.
func hasWords(list []event) bool {
	return slices.ContainsFunc(list, func(e event) bool { return e.Name == client.EventChunk })
}

// steer sends a message to a run.
func (s *server) steer(t *testing.T, run, text string) {
	t.Helper()
	if status := s.call(t, "POST", "/runs/"+run+"/messages", map[string]any{"text": text}, nil); status != http.StatusAccepted {
		t.Fatalf("a message to run %s: status %d", run, status)
	}
}

// askedOf returns the last message of the last request to the model.
func askedOf(m *modeltest.Server) string {
	requests := m.Requests()
	messages := requests[len(requests)-1].Messages
	return string(messages[len(messages)-1].Content)
}

// TestSteering sends messages to answers that are under way.
func TestSteering(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	s.publish(t, "lights", "The northern pier has a lighthouse. The southern pier has a foghorn.")
	const question, message = "What is on the piers?", "Only the northern one, <b>in brief</b>."

	t.Run("the words so far are dropped, and the next call has the message", func(t *testing.T) {
		m.ScriptChat(longReply(), modeltest.Text("A lighthouse. <source_1>"))
		a := s.query(t, question)
		r := &reader{run: a.run, body: a}
		r.until(t, hasWords)
		s.steer(t, a.run, message)
		r.until(t, never)
		tr := read(t, r.list)
		if wantSame(t, "the text", tr.text, tr.answer.Text); tr.resets != 1 || !strings.HasPrefix(tr.text, "A lighthouse.") {
			t.Errorf("the answer is %q after %d resets", tr.text, tr.resets)
		}
		if asked := askedOf(m); asked != question+"\n\n"+message {
			t.Errorf("the model was asked %q", asked)
		}
		again := s.follow(t, a.run, 0)
		var shown []string
		for _, e := range again {
			if e.Name == "userMessage" || e.Name == client.EventReset {
				shown = append(shown, e.Name+" "+string(e.Data))
			}
		}
		if len(again) != len(r.list) || len(shown) != 2 || !strings.Contains(shown[0], `"reason":"message"`) || !strings.Contains(shown[1], `in brief`) {
			t.Errorf("%d events at first, %d later, among them %q", len(r.list), len(again), shown)
		}
		s.wantSaid(t, conversationOf(t, again), question, message, tr.answer.Text)
		s.refuses(t, "POST", "/runs/"+a.run+"/messages", map[string]any{"text": "and the southern one?"}, http.StatusConflict, knowledge.CodeConflict)
	})

	t.Run("a kill right after the message loses neither", func(t *testing.T) {
		m.ScriptChat(longReply(), modeltest.Text("A lighthouse. <source_1>"), modeltest.Text("A lighthouse. <source_1>"))
		a := s.query(t, question)
		r := &reader{run: a.run, body: a}
		r.until(t, hasWords)
		s.steer(t, a.run, message)
		s.kill()
		s.restart()
		r.reconnect(t, s, never)
		tr := read(t, r.list)
		if wantSame(t, "the text", tr.text, tr.answer.Text); !strings.HasPrefix(tr.text, "A lighthouse.") {
			t.Errorf("the answer is %q", tr.text)
		}
		if asked := askedOf(m); asked != question+"\n\n"+message {
			t.Errorf("the model was asked %q", asked)
		}
		s.wantSaid(t, conversationOf(t, s.follow(t, a.run, 0)), question, message, tr.answer.Text)
	})
}

// wantSaid compares the messages of a conversation.
func (s *server) wantSaid(t *testing.T, conversation string, want ...string) {
	t.Helper()
	var found struct {
		Messages []struct{ Role, Text string }
	}
	s.call(t, "GET", "/workspaces/default/conversations/"+conversation, nil, &found)
	var said []string
	for i, one := range found.Messages {
		said = append(said, one.Text)
		if answer := i == len(found.Messages)-1; answer != (one.Role == "assistant") {
			t.Errorf("message %d is of the %s", i, one.Role)
		}
	}
	if !slices.Equal(said, want) {
		got, _ := json.Marshal(said) // strings always marshal
		t.Errorf("the conversation is %s, want %q", got, want)
	}
}

// recordedSteering has a question answered to which a message is sent, for its history.
func (s *server) recordedSteering(t *testing.T, m *modeltest.Server) (run string) {
	t.Helper()
	m.ScriptChat(longReply(), modeltest.Text("It is so after all."))
	a := s.query(t, "Kindly elucidate the pharology in full")
	(&reader{run: a.run, body: a}).until(t, hasWords)
	s.steer(t, a.run, "Kindly mention the refracting prisms")
	s.follow(t, a.run, 0)
	return a.run
}
