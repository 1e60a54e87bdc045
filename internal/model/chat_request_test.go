package model_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/model"
)

func TestChatRequest(t *testing.T) {
	t.Parallel()
	// ask returns the JSON body of a request.
	ask := func(t *testing.T, req model.ChatRequest, change ...func(*model.Endpoint)) map[string]any {
		t.Helper()
		var body map[string]any
		c := raw(t, func(w http.ResponseWriter, r *http.Request) {
			if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
				t.Error(err)
			}
			if r.Header.Get("Authorization") != "Bearer key" {
				t.Errorf("authorization %q", r.Header.Get("Authorization"))
			}
			_, _ = io.WriteString(w, say(hello, stop, done))
		}, append(change, func(e *model.Endpoint) { e.APIKey = "key" })...)
		if _, _, err := collect(t.Context(), c, req); err != nil {
			t.Fatal(err)
		}
		return body
	}
	zero, seed := 0.0, 7
	full := model.ChatRequest{
		Messages: []model.Message{
			{Role: model.RoleUser, Content: "q"},
			{Role: model.RoleAssistant, ToolCalls: []model.ToolCall{{ID: "a", Name: "search", Arguments: "{}"}}},
			{Role: model.RoleTool, ToolCallID: "a"},
		},
		Tools:      []model.Tool{{Name: "search", Description: "Finds.", Parameters: json.RawMessage(`{"type":"object"}`)}},
		ToolChoice: "search", Temperature: &zero, MaxTokens: 9, Seed: &seed,
	}

	t.Run("everything arrives", func(t *testing.T) {
		t.Parallel()
		got := ask(t, full)
		if temperature, ok := got["temperature"].(float64); !ok || temperature > 1e-6 {
			t.Errorf("temperature %v, must be sent and be almost 0", got["temperature"])
		}
		delete(got, "temperature")
		want := map[string]any{
			"model": "m", "stream": true, "max_tokens": 9.0, "seed": 7.0, "stream_options": map[string]any{"include_usage": true},
			"messages": []any{
				map[string]any{"role": "user", "content": "q"},
				map[string]any{"role": "assistant", "tool_calls": []any{map[string]any{"id": "a", "type": "function", "function": map[string]any{"name": "search", "arguments": "{}"}}}},
				map[string]any{"role": "tool", "content": " ", "tool_call_id": "a"},
			},
			"tools": []any{map[string]any{"type": "function", "function": map[string]any{
				"name": "search", "description": "Finds.", "parameters": map[string]any{"type": "object"},
			}}},
			"tool_choice": map[string]any{"type": "function", "function": map[string]any{"name": "search"}},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("pictures stand before the words of their message", func(t *testing.T) {
		t.Parallel()
		got := ask(t, model.ChatRequest{Messages: []model.Message{{Role: model.RoleUser, Content: "What is it?", Pictures: []model.Picture{
			{Label: "One:", MediaType: "image/png", Data: []byte("abc")}, {MediaType: "image/jpeg", Data: []byte("def")},
		}}}})
		url := func(s string) any {
			return map[string]any{"type": "image_url", "image_url": map[string]any{"url": s}}
		}
		want := []any{map[string]any{"role": "user", "content": []any{
			map[string]any{"type": "text", "text": "One:"}, url("data:image/png;base64,YWJj"), url("data:image/jpeg;base64,ZGVm"),
			map[string]any{"type": "text", "text": "What is it?"},
		}}}
		if diff := cmp.Diff(want, got["messages"]); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("a reasoning model gets the newer name of the limit and no temperature", func(t *testing.T) {
		t.Parallel()
		got := ask(t, full, func(e *model.Endpoint) { e.Model = "o3-mini" })
		if got["max_completion_tokens"] != 9.0 || got["max_tokens"] != nil || got["temperature"] != nil {
			t.Errorf("sent %v", got)
		}
	})
	t.Run("a request's own model wins", func(t *testing.T) {
		t.Parallel()
		if got := ask(t, model.ChatRequest{Model: "other", Messages: question.Messages}); got["model"] != "other" {
			t.Errorf("sent %v", got)
		}
	})
}

func TestChatConnection(t *testing.T) {
	t.Parallel()
	t.Run("an endpoint that refuses stream options is asked without them from then on", func(t *testing.T) {
		t.Parallel()
		var with, without atomic.Int32
		c := raw(t, func(w http.ResponseWriter, r *http.Request) {
			if body, _ := io.ReadAll(r.Body); strings.Contains(string(body), "stream_options") {
				with.Add(1)
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, `{"error":{"message":"Unrecognized request argument supplied: stream_options"}}`)
				return
			}
			without.Add(1)
			_, _ = io.WriteString(w, say(hello, stop, done))
		})
		for range 2 {
			if text, _, err := collect(t.Context(), c, question); err != nil || text != "Hel" {
				t.Fatal(text, err)
			}
		}
		if with.Load() != 1 || without.Load() != 2 {
			t.Errorf("asked %d times with and %d without", with.Load(), without.Load())
		}
	})
	t.Run("one connection serves call after call", func(t *testing.T) {
		t.Parallel()
		var addresses []string
		c := raw(t, func(w http.ResponseWriter, r *http.Request) {
			addresses = append(addresses, r.RemoteAddr)
			_, _ = io.WriteString(w, say(hello))
			_ = http.NewResponseController(w).Flush()
			_, _ = io.WriteString(w, say(stop, usage, done))
		})
		for range 5 {
			if _, _, err := collect(t.Context(), c, question); err != nil {
				t.Fatal(err)
			}
		}
		for _, address := range addresses {
			if address != addresses[0] {
				t.Fatalf("connections from %v", addresses)
			}
		}
	})
}
