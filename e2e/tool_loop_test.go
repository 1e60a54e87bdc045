package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/model/protocol"
)

// cancelLimit bounds the time from a cancel to the end of a run, which comes after the end
// of its model call. It is 2 s on a machine that does nothing else.
const cancelLimit = 20 * time.Second

// TestToolLoop has models and tools misbehave.
func TestToolLoop(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{Tokens: 400, TokenDelay: 50 * time.Millisecond, Reply: func(r protocol.ChatRequest) modeltest.Reply {
		if strings.Contains(string(r.Messages[1].Content), "for ever") && r.ToolChoice.Mode != "none" {
			return modeltest.Call(model.ToolCall{ID: "call", Name: "documents_rag", Arguments: `{"query":"more"}`})
		}
		return modeltest.Reply{}
	}})
	outside := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/hang" {
			<-r.Context().Done()
		}
		_, _ = w.Write([]byte(strings.Repeat("0123456789", 500_000)))
	}))
	t.Cleanup(outside.Close)
	s := start(t, at(m.URL(), "CAIRN_EGRESS__ALLOW=127.0.0.0/8")...)
	s.publish(t, "lights", "The northern pier has a lighthouse.")
	get := func(path string) map[string]any {
		return map[string]any{"type": "automation", "automation": map[string]any{"url": outside.URL + path, "method": "GET"}}
	}
	change := map[string]any{"tools": map[string]any{"maxPerRequest": 5, "approval": []string{"asks"}, "custom": map[string]any{"large": get("/large"), "hangs": get("/hang"), "asks": get("/large")}}}
	if status := s.call(t, "PATCH", "/workspaces/default/projects/default", change, nil); status != http.StatusOK {
		t.Fatalf("the tools are refused: status %d", status)
	}
	call := func(name string) modeltest.Reply {
		return modeltest.Call(model.ToolCall{ID: "call", Name: name, Arguments: "{}"})
	}

	t.Run("a model that calls for ever is bounded", func(t *testing.T) {
		asked := m.Totals().Chats.Asked
		override := map[string]any{"tools": map[string]any{"maxPerRequest": 5}}
		a := s.ask(t, webhooks+"/query", map[string]any{"text": "Go on for ever", "projectId": "default", "sse": true, "projectConfigOverride": override})
		r := &reader{run: a.run, body: a}
		r.until(t, func(list []event) bool { return list[len(list)-1].Name == client.EventChunk })
		if calls := m.Totals().Chats.Asked - asked; calls != 6 || len(statuses(t, r.list)) != 10 {
			t.Errorf("%d model calls, tool calls %v", calls, statuses(t, r.list))
		}
		s.wantCanceled(t, r)
	})
	t.Run("5 MB of a tool are cut", func(t *testing.T) {
		m.ScriptChat(call("large"), modeltest.Text("It is long."))
		answer := read(t, s.follow(t, s.query(t, "How long?").run, 0)).answer
		if words := lastWords(m); answer.Text != "It is long." || len(words) > 70<<10 || !strings.Contains(words, "is left out") {
			t.Errorf("%q after %d bytes", answer.Text, len(words))
		}
	})
	suggests := map[string]any{"ai": map[string]any{"postQuery": map[string]any{"suggestions": true}}}
	rewrites := map[string]any{"ai": map[string]any{"enhanceQuery": true}}
	summarizes := modeltest.Call(model.ToolCall{ID: "call", Name: "file_summary", Arguments: `{"document":"lights"}`})
	for point, c := range map[string]struct {
		script   []modeltest.Reply
		override map[string]any
		asked    int // calls of the model, of which the last hangs; 0 = none hangs
		until    func([]event) bool
	}{
		"before the first word":        {[]modeltest.Reply{modeltest.Hang()}, nil, 1, nil},
		"in mid stream":                {nil, nil, 1, words(t, 3, answerText)},
		"while a tool hangs":           {[]modeltest.Reply{call("hangs")}, nil, 0, func(list []event) bool { return len(statuses(t, list)) > 0 }},
		"while a call waits":           {[]modeltest.Reply{call("asks")}, nil, 0, func(list []event) bool { return len(statuses(t, list)) > 0 }},
		"in the call behind a tool":    {[]modeltest.Reply{call("large"), modeltest.Hang()}, nil, 2, nil},
		"while a tool asks the model":  {[]modeltest.Reply{summarizes, modeltest.Hang()}, nil, 2, nil},
		"before the search":            {[]modeltest.Reply{modeltest.Hang()}, rewrites, 1, nil},
		"behind the answer, in a call": {[]modeltest.Reply{modeltest.Text("A lighthouse."), modeltest.Hang()}, suggests, 2, nil},
	} {
		t.Run("a cancel "+point, func(t *testing.T) {
			before := m.Totals().Chats.Asked
			m.ScriptChat(c.script...)
			a := s.ask(t, webhooks+"/query", map[string]any{"text": "What is on the northern pier?", "projectId": "default", "sse": true, "projectConfigOverride": c.override})
			r := &reader{run: a.run, body: a}
			if c.until != nil {
				r.until(t, c.until)
			}
			if c.asked == 0 {
				s.wantCanceled(t, r)
				return
			}
			await(t, time.Minute, "the model is asked", func(context.Context) error {
				if n := m.Totals().Chats.Asked - before; n < c.asked {
					return fmt.Errorf("%d of %d calls", n, c.asked)
				}
				return nil
			})
			s.wantCallCanceled(t, r, m)
		})
	}
}

// wantCallCanceled is wantCanceled for a run that waits for a model. It checks that the
// model's endpoint is left too.
func (s *server) wantCallCanceled(t *testing.T, r *reader, m *modeltest.Server) {
	t.Helper()
	before, began := m.Totals().Left, time.Now()
	s.wantCanceled(t, r)
	ctx, cancel := context.WithTimeout(t.Context(), cancelLimit)
	defer cancel()
	if err := m.Wait(ctx, func(now modeltest.Totals) bool { return now.Left > before }); err != nil {
		t.Errorf("the model is still asked %v after the cancel", time.Since(began))
	}
	t.Logf("the model's endpoint was left %v after the cancel at the latest", time.Since(began).Round(time.Millisecond))
}

// wantCanceled cancels a run, and checks that it ends as canceled in time.
func (s *server) wantCanceled(t *testing.T, r *reader) {
	t.Helper()
	if status := s.call(t, "POST", "/runs/"+r.run+"/cancel", nil, nil); status != http.StatusAccepted {
		t.Fatalf("cancel: status %d", status)
	}
	began := time.Now()
	r.until(t, never)
	took := time.Since(began)
	var failure struct{ Code knowledge.Code }
	last := r.list[len(r.list)-1]
	if err := json.Unmarshal(last.Data, &failure); err != nil || last.Name != client.EventError || failure.Code != knowledge.CodeCanceled || took > cancelLimit {
		t.Errorf("it ended after %v with %s %s", took, last.Name, last.Data)
	}
	t.Logf("the end came %v after the cancel", took.Round(time.Millisecond))
}
