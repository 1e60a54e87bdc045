package model_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
)

// raw serves a handler and gives a client for it.
func raw(t *testing.T, handler http.HandlerFunc, change ...func(*model.Endpoint)) *model.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body) // a server sees a client leave only once it has read the body
		if err != nil {
			t.Error(err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		handler(w, r)
	}))
	t.Cleanup(server.Close)
	endpoint := model.Endpoint{Provider: "raw", BaseURL: server.URL + "/v1", Model: "m"}
	for _, f := range change {
		f(&endpoint)
	}
	return model.New(endpoint, nil)
}

func idle(d time.Duration) func(*model.Endpoint) {
	return func(e *model.Endpoint) { e.IdleTimeout = d }
}

var question = model.ChatRequest{Messages: []model.Message{{Role: model.RoleUser, Content: "q"}}}

func collect(ctx context.Context, c *model.Client, req model.ChatRequest) (text string, done *model.Completion, err error) {
	for delta, err := range c.Chat(ctx, req) {
		if err != nil {
			return text, nil, err
		}
		text += delta.Text
		done = delta.Done
	}
	return text, done, nil
}

// say gives the events of a stream: each line of JSON as one event.
func say(lines ...string) string {
	var b strings.Builder
	for _, line := range lines {
		fmt.Fprintf(&b, "data: %s\n\n", line)
	}
	return b.String()
}

const (
	hello  = `{"model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"},"finish_reason":null}]}`
	lo     = `{"choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":null}]}`
	stop   = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	usage  = `{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}}`
	done   = `[DONE]`
	inBand = `{"error":{"message":"secret words","type":"server_error","code":null}}`
)

func TestChatAnswers(t *testing.T) {
	t.Parallel()
	finish := func(reason string) string {
		return `{"choices":[{"index":0,"delta":{},"finish_reason":"` + reason + `"}]}`
	}
	call := func(fields string) string {
		return `{"choices":[{"index":0,"delta":{"tool_calls":[{` + fields + `}]},"finish_reason":null}]}`
	}
	for name, test := range map[string]struct {
		body string
		text string
		want model.Completion
	}{
		"text and usage": {
			say(hello, lo, stop, usage, done), "Hello",
			model.Completion{FinishReason: "stop", Model: "m-1", Usage: model.Usage{PromptTokens: 5, CompletionTokens: 2}},
		},
		"no usage":                          {say(hello, lo, stop, done), "Hello", model.Completion{FinishReason: "stop", Model: "m-1"}},
		"no mark after the finish reason":   {say(hello, stop), "Hel", model.Completion{FinishReason: "stop", Model: "m-1"}},
		"no finish reason before the mark":  {say(hello, lo, done), "Hello", model.Completion{FinishReason: "stop", Model: "m-1"}},
		"a mark without a space":            {say(hello) + "data:[DONE]\n", "Hel", model.Completion{FinishReason: "stop", Model: "m-1"}},
		"comments and other fields between": {": wait\n\nid: 1\n" + say(hello) + ": wait\n\n" + say(stop, done), "Hel", model.Completion{FinishReason: "stop", Model: "m-1"}},
		"an answer that is cut at the limit": {
			say(hello, finish("length"), done), "Hel", model.Completion{FinishReason: "length", Model: "m-1"}},
		"another name for the limit": {say(lo, finish("max_tokens"), done), "lo", model.Completion{FinishReason: "length"}},
		"a filtered answer":          {say(lo, finish("content_filter"), done), "lo", model.Completion{FinishReason: "content_filter"}},
		"an empty but finished one":  {say(stop, done), "", model.Completion{FinishReason: "stop"}},
		"a second choice is ignored": {
			say(lo, `{"choices":[{"index":1,"delta":{"content":"other"},"finish_reason":"stop"}]}`, stop, done), "lo", model.Completion{FinishReason: "stop"}},
		"tool calls in mixed fragments": {
			say(call(`"index":0,"id":"a","type":"function","function":{"name":"search","arguments":""}`),
				call(`"index":1,"id":"b","type":"function","function":{"name":"fetch","arguments":"{\"u\""}`),
				call(`"index":0,"function":{"arguments":"{\"q\":"}`),
				call(`"index":1,"function":{"arguments":":1}"}`),
				call(`"index":0,"function":{"arguments":"\"x\"}"}`), finish("tool_calls"), usage, done), "",
			model.Completion{FinishReason: "tool_calls", Usage: model.Usage{PromptTokens: 5, CompletionTokens: 2}, ToolCalls: []model.ToolCall{
				{ID: "a", Name: "search", Arguments: `{"q":"x"}`}, {ID: "b", Name: "fetch", Arguments: `{"u":1}`},
			}},
		},
		"tool calls without index and finished with stop": {
			say(call(`"id":"a","function":{"name":"search","arguments":"{}"}`), call(`"id":"b","function":{"name":"search","arguments":"{}"}`), stop, done), "",
			model.Completion{FinishReason: "tool_calls", ToolCalls: []model.ToolCall{{ID: "a", Name: "search", Arguments: "{}"}, {ID: "b", Name: "search", Arguments: "{}"}}},
		},
		"tool calls that all have the index 0": {
			say(call(`"index":0,"id":"a","function":{"name":"search","arguments":"{}"}`), call(`"index":0,"id":"b","function":{"name":"fetch","arguments":"{}"}`), stop, done), "",
			model.Completion{FinishReason: "tool_calls", ToolCalls: []model.ToolCall{{ID: "a", Name: "search", Arguments: "{}"}, {ID: "b", Name: "fetch", Arguments: "{}"}}},
		},
		"a tool call without id and arguments": {
			say(call(`"index":0,"function":{"name":"search"}`), finish("function_call"), done), "",
			model.Completion{FinishReason: "tool_calls", ToolCalls: []model.ToolCall{{ID: "call_0", Name: "search", Arguments: "{}"}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := raw(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, test.body) })
			text, got, err := collect(t.Context(), c, question)
			if err != nil {
				t.Fatal(err)
			}
			if text != test.text {
				t.Errorf("text %q, want %q", text, test.text)
			}
			if diff := cmp.Diff(&test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestChatFails(t *testing.T) {
	t.Parallel()
	write := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Request-Id", "req_1")
			_, _ = io.WriteString(w, body)
		}
	}
	for name, test := range map[string]struct {
		handler   http.HandlerFunc
		code      string
		permanent bool
		text      string
	}{
		"an empty body":                      {write(""), model.CodeBadResponse, false, ""},
		"nothing but the mark":               {write(say(done)), model.CodeBadResponse, false, ""},
		"a web page":                         {write("<html>\n<body>welcome</body>\n</html>\n"), model.CodeBadResponse, false, ""},
		"an event that is not JSON":          {write(say(hello, `{"choices": [}`)), model.CodeBadResponse, false, "Hel"},
		"an event of another type":           {write(say(hello, `{"choices": "none"}`)), model.CodeBadResponse, false, "Hel"},
		"a stream that just ends":            {write(say(hello, lo)), model.CodeEnded, false, "Hello"},
		"the mark inside a text is no mark":  {write(say(hello, `{"choices":[{"index":0,"delta":{"content":"data: [DONE]"}}]}`)), model.CodeEnded, false, "Heldata: [DONE]"},
		"a stream that ends inside an event": {write(say(hello) + `data: {"choices":[{"ind`), model.CodeEnded, false, "Hel"},
		"a stream that is cut": {func(w http.ResponseWriter, r *http.Request) {
			write(say(hello))(w, r)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, model.CodeEnded, false, "Hel"},
		"an error inside the stream":            {write(say(hello, inBand) + "\n"), model.CodeOverloaded, false, "Hel"},
		"a rate limit inside the stream":        {write(say(strings.Replace(inBand, "null", "429", 1)) + "\n"), model.CodeRateLimited, false, ""},
		"a refusal inside the stream":           {write(say(strings.Replace(inBand, "server_error", "invalid_request_error", 1)) + "\n"), model.CodeBadRequest, true, ""},
		"an error in place of a stream":         {write(inBand), model.CodeBadResponse, false, ""},
		"more comments than anybody would send": {write(strings.Repeat(": wait\n\n", 10_001)), model.CodeBadResponse, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, _, err := collect(t.Context(), raw(t, test.handler), question)
			e, ok := errors.AsType[*model.Error](err)
			if !ok || e.Code != test.code || e.Retryable == test.permanent || e.Provider != "raw" || e.Cause == nil || e.Status != 200 {
				t.Fatalf("got %#v", err)
			}
			if text != test.text {
				t.Errorf("text %q before the error", text)
			}
			public := e.Public()
			if public.Code != knowledge.CodeProviderFailed || strings.Contains(public.Message, "secret") || public.Retryable != e.Retryable {
				t.Errorf("public error %+v", public)
			}
		})
	}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]struct {
		code      string
		retryable bool
	}{
		302: {model.CodeBadRequest, false}, 400: {model.CodeBadRequest, false}, 401: {model.CodeUnauthorized, false},
		403: {model.CodeUnauthorized, false}, 404: {model.CodeBadRequest, false}, 408: {model.CodeTimeout, true},
		409: {model.CodeOverloaded, true}, 413: {model.CodeBadRequest, false}, 422: {model.CodeBadRequest, false},
		429: {model.CodeRateLimited, true}, 500: {model.CodeOverloaded, true}, 503: {model.CodeOverloaded, true},
		504: {model.CodeTimeout, true}, 529: {model.CodeOverloaded, true},
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int32
			c := raw(t, func(w http.ResponseWriter, _ *http.Request) {
				calls.Add(1)
				w.Header().Set("Location", "/elsewhere")
				w.Header().Set("Request-Id", "req_9")
				w.Header().Set("Retry-After", "3")
				w.WriteHeader(status)
				_, _ = io.WriteString(w, `{"error":{"message":"secret words","type":"x"}}`)
			})
			_, _, chat := collect(t.Context(), c, question)
			_, _, embed := c.Embed(t.Context(), []string{"x"})
			_, models := c.Models(t.Context())
			for _, err := range []error{chat, embed, models} {
				e, ok := errors.AsType[*model.Error](err)
				if !ok || e.Code != want.code || e.Retryable != want.retryable || e.Status != status {
					t.Fatalf("got %#v", err)
				}
				if e.RequestID != "req_9" || e.RetryAfter != 3*time.Second {
					t.Errorf("request %q, retry after %s", e.RequestID, e.RetryAfter)
				}
				if !strings.Contains(e.Cause.Error(), "secret words") || strings.Contains(e.Public().Message, "secret") {
					t.Errorf("cause %q, public %q", e.Cause, e.Public().Message)
				}
			}
			if calls.Load() != 3 {
				t.Errorf("%d requests for three calls", calls.Load())
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	for header, want := range map[string][2]time.Duration{
		"Retry-After: 120":    {2 * time.Minute, 2 * time.Minute},
		"Retry-After: 1.5":    {1500 * time.Millisecond, 1500 * time.Millisecond},
		"Retry-After: -4":     {},
		"Retry-After: soon":   {},
		"Retry-After: 1e300":  {24 * time.Hour, 24 * time.Hour},
		"Retry-After: NaN":    {},
		"Retry-After-Ms: 250": {250 * time.Millisecond, 250 * time.Millisecond},
		"Retry-After: " + time.Now().Add(time.Hour).UTC().Format(http.TimeFormat):  {59 * time.Minute, time.Hour},
		"Retry-After: " + time.Now().Add(-time.Hour).UTC().Format(http.TimeFormat): {},
	} {
		t.Run(header, func(t *testing.T) {
			t.Parallel()
			c := raw(t, func(w http.ResponseWriter, _ *http.Request) {
				name, value, _ := strings.Cut(header, ": ")
				w.Header().Set(name, value)
				w.WriteHeader(http.StatusTooManyRequests)
			})
			_, _, err := collect(t.Context(), c, question)
			e, ok := errors.AsType[*model.Error](err)
			if !ok || e.RetryAfter < want[0] || e.RetryAfter > want[1] {
				t.Errorf("got %#v", err)
			}
		})
	}
}

func TestChatWaits(t *testing.T) {
	t.Parallel()
	silent := func(body string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			if body != "" {
				_, _ = io.WriteString(w, body)
				_ = http.NewResponseController(w).Flush()
			}
			<-r.Context().Done()
		}
	}
	timedOut := func(t *testing.T, c *model.Client) {
		t.Helper()
		_, _, err := collect(t.Context(), c, question)
		if e, ok := errors.AsType[*model.Error](err); !ok || e.Code != model.CodeTimeout || !e.Retryable {
			t.Errorf("got %#v", err)
		}
	}

	t.Run("an endpoint that answers nothing times out", func(t *testing.T) {
		t.Parallel()
		timedOut(t, raw(t, silent(""), idle(40*time.Millisecond)))
	})
	t.Run("so does one that sends a status and no more", func(t *testing.T) {
		t.Parallel()
		timedOut(t, raw(t, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusOK)
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}, idle(40*time.Millisecond)))
	})
	t.Run("so does one that stops talking", func(t *testing.T) {
		t.Parallel()
		timedOut(t, raw(t, silent(say(hello)), idle(40*time.Millisecond)))
	})
	t.Run("so does one that takes longer than the timeout", func(t *testing.T) {
		t.Parallel()
		timedOut(t, raw(t, silent(say(hello)), func(e *model.Endpoint) { e.Timeout = 40 * time.Millisecond }))
	})
	t.Run("the first byte may take longer than the others", func(t *testing.T) {
		t.Parallel()
		began := make(chan struct{})
		c := raw(t, func(w http.ResponseWriter, _ *http.Request) {
			<-began
			_, _ = io.WriteString(w, say(hello, stop, done))
		}, func(e *model.Endpoint) { e.IdleTimeout, e.FirstByteTimeout = 10*time.Millisecond, time.Minute })
		time.AfterFunc(50*time.Millisecond, func() { close(began) })
		if _, _, err := collect(t.Context(), c, question); err != nil {
			t.Error(err)
		}
	})
	t.Run("a slow reader is not taken for a silent endpoint", func(t *testing.T) {
		t.Parallel()
		c := raw(t, func(w http.ResponseWriter, _ *http.Request) {
			for _, event := range []string{hello, lo, stop, done} {
				_, _ = io.WriteString(w, say(event))
				_ = http.NewResponseController(w).Flush()
			}
		}, idle(30*time.Millisecond))
		for _, err := range c.Chat(t.Context(), question) {
			if err != nil {
				t.Fatal(err)
			}
			<-time.After(60 * time.Millisecond) // the reader's own pace
		}
	})
	t.Run("cancelling wakes the call and gives the caller's own error", func(t *testing.T) {
		t.Parallel()
		why := errors.New("stopped by the user")
		ctx, cancel := context.WithCancelCause(t.Context())
		defer cancel(nil)
		left := make(chan struct{})
		c := raw(t, func(w http.ResponseWriter, r *http.Request) {
			silent(say(hello))(w, r)
			close(left)
		})
		var got error
		for delta, err := range c.Chat(ctx, question) {
			if delta.Text != "" {
				cancel(why)
			}
			got = err
		}
		if _, typed := errors.AsType[*model.Error](got); typed || !errors.Is(got, why) {
			t.Errorf("got %#v", got)
		}
		<-left
	})
	t.Run("leaving the loop closes the request", func(t *testing.T) {
		t.Parallel()
		left := make(chan struct{})
		c := raw(t, func(w http.ResponseWriter, r *http.Request) {
			silent(say(hello))(w, r)
			close(left)
		})
		for range c.Chat(t.Context(), question) {
			break
		}
		<-left
	})
	t.Run("nobody listening is a connection error", func(t *testing.T) {
		t.Parallel()
		server := httptest.NewServer(http.NotFoundHandler())
		server.Close()
		c := model.New(model.Endpoint{Provider: "raw", BaseURL: server.URL}, nil)
		_, _, err := collect(t.Context(), c, question)
		if e, ok := errors.AsType[*model.Error](err); !ok || e.Code != model.CodeConnection || !e.Retryable {
			t.Errorf("got %#v", err)
		}
	})
}

// TestChatDefaults uses a clock of its own: the default waits are a minute long.
func TestChatDefaults(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := &http.Client{Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, context.Cause(r.Context())
		})}
		began := time.Now()
		_, _, err := collect(t.Context(), model.New(model.Endpoint{BaseURL: "http://model.test/v1"}, client), question)
		if e, ok := errors.AsType[*model.Error](err); !ok || e.Code != model.CodeTimeout {
			t.Errorf("got %#v", err)
		}
		if waited := time.Since(began); waited != model.DefaultIdleTimeout {
			t.Errorf("gave up after %s", waited)
		}
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestChatRequest(t *testing.T) {
	t.Parallel()
	// ask gives the body that a request becomes.
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
			t.Errorf("temperature %v, must be sent and be next to 0", got["temperature"])
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
