package model_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/model"
)

// azure serves a handler as a resource of Azure OpenAI and notes the requests, as their
// method, address, key and model.
func azure(t *testing.T, handler http.HandlerFunc, change func(*model.Endpoint)) (c *model.Client, requests func() []string) {
	t.Helper()
	var mu sync.Mutex
	var noted []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Model string `json:"model"`
		}
		data, err := io.ReadAll(r.Body)
		if err != nil || len(data) > 0 && json.Unmarshal(data, &body) != nil {
			t.Errorf("body %q, %v", data, err)
		}
		mu.Lock()
		noted = append(noted, fmt.Sprintf("%s %s key=%s%s model=%s", r.Method, r.URL.RequestURI(), r.Header.Get("api-key"), r.Header.Get("Authorization"), body.Model))
		mu.Unlock()
		handler(w, r)
	}))
	t.Cleanup(server.Close)
	endpoint := model.Endpoint{Provider: "azure", BaseURL: server.URL, Azure: true, Model: "gpt-4o", Deployment: "our chat", APIKey: "k"}
	change(&endpoint)
	return model.New(endpoint, nil), func() []string {
		mu.Lock()
		defer mu.Unlock()
		return noted
	}
}

// filtered is an event with which Azure begins a stream.
const filtered = `{"choices":[],"created":0,"id":"","model":"","object":"","prompt_filter_results":[{"prompt_index":0,"content_filter_results":{}}]}`

func TestAzure(t *testing.T) {
	t.Parallel()
	streamed := func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, say(filtered, hello, lo, stop, usage, done))
	}
	for name, test := range map[string]struct {
		version, model string
		chat, forward  string
		embed          string
	}{
		"with_a_version": {
			version: "2024-10-21",
			chat:    "POST /openai/deployments/our%20chat/chat/completions?api-version=2024-10-21 key=k model=our chat",
			forward: "POST /openai/deployments/our%20chat/chat/completions?api-version=2024-10-21 key=k model=our chat",
			embed:   "POST /openai/deployments/our%20chat/embeddings?api-version=2024-10-21 key=k model=our chat",
		},
		"without_a_version": {
			chat:    "POST /openai/v1/chat/completions key=k model=our chat",
			forward: "POST /openai/v1/chat/completions key=k model=our chat",
			embed:   "POST /openai/v1/embeddings key=k model=our chat",
		},
		"with_the_preview": {
			version: "preview",
			chat:    "POST /openai/v1/chat/completions?api-version=preview key=k model=our chat",
			forward: "POST /openai/v1/chat/completions?api-version=preview key=k model=our chat",
			embed:   "POST /openai/v1/embeddings?api-version=preview key=k model=our chat",
		},
		"with_another_deployment": {
			version: "2024-10-21", model: "o4-mini",
			chat:    "POST /openai/deployments/o4-mini/chat/completions?api-version=2024-10-21 key=k model=o4-mini",
			forward: "POST /openai/deployments/our%20chat/chat/completions?api-version=2024-10-21 key=k model=our chat",
			embed:   "POST /openai/deployments/our%20chat/embeddings?api-version=2024-10-21 key=k model=our chat",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, requests := azure(t, func(w http.ResponseWriter, r *http.Request) {
				if strings.Contains(r.URL.Path, "embeddings") {
					_, _ = io.WriteString(w, `{"data":[{"index":0,"embedding":"AACAPwAAAEA="}],"usage":{"prompt_tokens":3}}`)
					return
				}
				streamed(w, r)
			}, func(e *model.Endpoint) { e.APIVersion = test.version })
			asked := question
			asked.Model = test.model
			text, completion, err := collect(t.Context(), c, asked)
			if err != nil || text != "Hello" || completion.Model != "m-1" || completion.Usage.PromptTokens != 5 {
				t.Errorf("%q, %+v, %v", text, completion, err)
			}
			forwarded, err := c.ForwardChat(t.Context(), []byte(`{"model":"gpt-4o","stream":true,"x":[1.0]}`), true)
			if err != nil {
				t.Fatal(err)
			}
			events := 0
			for _, err := range forwarded.Events() {
				if events++; err != nil {
					t.Error(err)
				}
			}
			forwarded.Close()
			if events != 5 {
				t.Errorf("%d events", events)
			}
			vectors, _, err := c.Embed(t.Context(), []string{"a"})
			if diff := cmp.Diff([][]float32{{1, 2}}, vectors); diff != "" || err != nil {
				t.Errorf("%s, %v", diff, err)
			}
			if diff := cmp.Diff([]string{test.chat, test.forward, test.embed}, requests()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestAzureErrors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int
		header [2]string
		body   string
		code   string
		retry  bool
		id     string
	}{
		"a_content_filter": {400, [2]string{"apim-request-id", "r-1"}, `{"error":{"inner_error":{"code":"ResponsibleAIPolicyViolation","content_filter_results":{"hate":{"filtered":true,"severity":"high"}}},"code":"content_filter","message":"secret words","param":"prompt","type":null}}`, model.CodeFiltered, false, "r-1"},
		"a_wrong_key":      {401, [2]string{}, `{"error":{"code":"401","message":"Access denied due to invalid subscription key or wrong API endpoint."}}`, model.CodeUnauthorized, false, ""},
		"no_deployment":    {404, [2]string{}, `{"error":{"code":"DeploymentNotFound","message":"The API deployment for this resource does not exist."}}`, model.CodeBadRequest, false, ""},
		"a_limit":          {429, [2]string{"Retry-After-Ms", "1500"}, `{"error":{"code":"429","message":"Requests have exceeded call rate limit."}}`, model.CodeRateLimited, true, ""},
		"no_JSON":          {503, [2]string{}, `<html>`, model.CodeOverloaded, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := azure(t, func(w http.ResponseWriter, _ *http.Request) {
				if test.header[0] != "" {
					w.Header().Set(test.header[0], test.header[1])
				}
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, test.body)
			}, func(e *model.Endpoint) { e.APIVersion = "2024-10-21" })
			_, _, err := collect(t.Context(), c, question)
			e, ok := errors.AsType[*model.Error](err)
			if !ok || e.Code != test.code || e.Retryable != test.retry || e.RequestID != test.id || strings.Contains(e.Public().Message, "secret") {
				t.Errorf("%v", err)
			}
			if test.status == 429 && e.RetryAfter.Milliseconds() != 1500 {
				t.Errorf("wait %s", e.RetryAfter)
			}
		})
	}
	t.Run("a_filter_in_mid_stream_ends_the_answer", func(t *testing.T) {
		t.Parallel()
		c, _ := azure(t, func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, say(filtered, hello, `{"choices":[{"index":0,"delta":{},"finish_reason":"content_filter","content_filter_results":{}}]}`, done))
		}, func(*model.Endpoint) {})
		text, completion, err := collect(t.Context(), c, question)
		if err != nil || text != "Hel" || completion.FinishReason != model.FinishFiltered {
			t.Errorf("%q, %+v, %v", text, completion, err)
		}
	})
}
