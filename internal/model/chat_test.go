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
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
)

// raw serves a handler and returns a client for it.
func raw(t *testing.T, handler http.HandlerFunc, change ...func(*model.Endpoint)) *model.Client {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body) // the server only notices that a client disconnected after it has read the body
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

// quote returns a text as JSON.
func quote(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(data)
}

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

// say returns the events of a stream: one for each line of JSON.
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

func TestChatBoundsToolCalls(t *testing.T) {
	t.Parallel()
	var body strings.Builder
	fragment := func(i int, fields string) {
		body.WriteString(say(fmt.Sprintf(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":%d,%s}]},"finish_reason":null}]}`, i, fields)))
	}
	for i := range 1000 {
		fragment(i, fmt.Sprintf(`"id":"id%d","function":{"name":"search","arguments":"{"}`, i))
	}
	for i := range 1000 {
		fragment(i, fmt.Sprintf(`"function":{"arguments":"\"n\":%d}"}`, i))
	}
	for range 1000 {
		fragment(1, `"function":{"name":"free text "}`)
	}
	body.WriteString(say(stop, done))
	c := raw(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body.String()) })
	_, got, err := collect(t.Context(), c, question)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.ToolCalls) != 128 {
		t.Fatalf("%d calls", len(got.ToolCalls))
	}
	for i, call := range got.ToolCalls {
		if call.ID != fmt.Sprint("id", i) || call.Arguments != fmt.Sprintf(`{"n":%d}`, i) {
			t.Errorf("call %d is %s %s", i, call.ID, call.Arguments)
		}
	}
	if n := len(got.ToolCalls[1].Name); n > 300 {
		t.Errorf("a name of %d bytes", n)
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
		"an empty body":                                  {write(""), model.CodeBadResponse, false, ""},
		"nothing but the mark":                           {write(say(done)), model.CodeBadResponse, false, ""},
		"a web page":                                     {write("<html>\n<body>welcome</body>\n</html>\n"), model.CodeBadResponse, false, ""},
		"an event that is not JSON":                      {write(say(hello, `{"choices": [}`)), model.CodeBadResponse, false, "Hel"},
		"an event of another type":                       {write(say(hello, `{"choices": "none"}`)), model.CodeBadResponse, false, "Hel"},
		"a stream that just ends":                        {write(say(hello, lo)), model.CodeEnded, false, "Hello"},
		"the mark inside a text does not end the stream": {write(say(hello, `{"choices":[{"index":0,"delta":{"content":"data: [DONE]"}}]}`)), model.CodeEnded, false, "Heldata: [DONE]"},
		"a stream that ends inside an event":             {write(say(hello) + `data: {"choices":[{"ind`), model.CodeEnded, false, "Hel"},
		"a stream that is cut": {func(w http.ResponseWriter, r *http.Request) {
			write(say(hello))(w, r)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}, model.CodeEnded, false, "Hel"},
		"an error inside the stream":     {write(say(hello, inBand) + "\n"), model.CodeOverloaded, false, "Hel"},
		"a rate limit inside the stream": {write(say(strings.Replace(inBand, "null", "429", 1)) + "\n"), model.CodeRateLimited, false, ""},
		"a refusal inside the stream":    {write(say(strings.Replace(inBand, "server_error", "invalid_request_error", 1)) + "\n"), model.CodeBadRequest, true, ""},
		"an error in place of a stream":  {write(inBand), model.CodeOverloaded, false, ""},
		"too many comments":              {write(strings.Repeat(": wait\n\n", 10_001)), model.CodeBadResponse, false, ""},
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
			if (public.Code == knowledge.CodeRateLimited) != (e.Code == model.CodeRateLimited) || strings.Contains(public.Message, "secret") || public.Retryable != e.Retryable {
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
		409: {model.CodeOverloaded, true}, 413: {model.CodeTooLarge, false}, 422: {model.CodeBadRequest, false},
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
				_, _ = io.WriteString(w, `{"error":{"message":"secret words","type":"content_filter","code":"words so secret"}}`)
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
				if !strings.Contains(e.Error(), "content_filter") || !strings.Contains(e.Error(), "secret words") {
					t.Errorf("the error says %q, and not what the endpoint said", e)
				}
				if strings.Contains(e.Public().Message, "secret") {
					t.Errorf("public %q", e.Public().Message)
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
