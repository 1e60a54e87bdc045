package model_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

func reranker(t *testing.T, shape model.RerankShape, handler http.HandlerFunc) *model.Reranker {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return model.NewReranker(model.Endpoint{Provider: "raw", BaseURL: server.URL + "/v1/", Model: "m", APIKey: "sk"}, shape, nil)
}

func TestRerankShapes(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		shape        model.RerankShape
		sent, answer string
		tokens       int
	}{
		"Cohere": {
			model.RerankCohere, `{"model":"m","query":"q","documents":["a","b"],"top_n":2}`,
			`{"id":"1","results":[{"index":1,"relevance_score":0.9},{"index":0,"relevance_score":0.1}],"meta":{"tokens":{"input_tokens":21}}}`, 21,
		},
		"one that counts in another way": {
			model.RerankCohere, `{"model":"m","query":"q","documents":["a","b"],"top_n":2}`,
			`{"results":[{"index":1,"relevance_score":0.9},{"index":0,"relevance_score":0.1}],"usage":"12 tokens"}`, 0,
		},
		"Voyage": {
			model.RerankCohere, `{"model":"m","query":"q","documents":["a","b"],"top_n":2}`,
			`{"object":"list","data":[{"index":1,"relevance_score":0.9},{"index":0,"relevance_score":0.1}],"usage":{"total_tokens":12}}`, 12,
		},
		"text-embeddings-inference": {
			model.RerankTEI, `{"query":"q","texts":["a","b"],"truncate":true}`,
			`[{"index":1,"score":0.9},{"index":0,"score":0.1}]`, 0,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := reranker(t, test.shape, func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil || r.URL.Path != "/v1/rerank" || r.Header.Get("Authorization") != "Bearer sk" || string(body) != test.sent {
					t.Errorf("asked %s with %s, %v", r.URL.Path, body, err)
				}
				_, _ = io.WriteString(w, test.answer)
			})
			scores, calls, used, err := r.RerankCounted(t.Context(), "q", []string{"a", "b"})
			if diff := cmp.Diff([]float64{.1, .9}, scores); diff != "" || err != nil || calls != 1 || used.PromptTokens != test.tokens {
				t.Error(diff, err, calls, used)
			}
		})
	}
}

func TestRerankSendsAtMost32TextsToTEI(t *testing.T) {
	t.Parallel()
	server := modeltest.New(modeltest.Options{})
	t.Cleanup(server.Close)
	texts := strings.Split(strings.Repeat("no,", 69)+"yes", ",")
	for _, shape := range []model.RerankShape{model.RerankTEI, model.RerankCohere} {
		scores, err := model.NewReranker(server.Endpoint(), shape, nil).Rerank(t.Context(), "yes", texts)
		if err != nil || len(scores) != 70 || scores[69] != 1 || scores[0] != 0 {
			t.Errorf("%s: %v, %v", shape, scores, err)
		}
	}
	if n := server.Totals().Reranks.Asked; n != 4 {
		t.Errorf("%d requests, want three of text-embeddings-inference and one of Cohere", n)
	}
}

func TestRerankErrors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status    int
		body      string
		code      string
		retryable bool
	}{
		"a score too few":         {200, `{"results":[{"index":0,"relevance_score":1}]}`, model.CodeBadResponse, true},
		"an index twice":          {200, `{"results":[{"index":0,"relevance_score":1},{"index":0,"relevance_score":1}]}`, model.CodeBadResponse, true},
		"an index out of range":   {200, `{"results":[{"index":0,"relevance_score":1},{"index":2,"relevance_score":1}]}`, model.CodeBadResponse, true},
		"no score":                {200, `{"results":[{"index":0},{"index":1}]}`, model.CodeBadResponse, true},
		"not JSON":                {200, `<html>`, model.CodeBadResponse, true},
		"a wrong key":             {401, `{"message":"invalid api token"}`, model.CodeUnauthorized, false},
		"an endpoint that limits": {429, `{}`, model.CodeRateLimited, true},
		"an endpoint that fails":  {503, ``, model.CodeOverloaded, true},
		"too many texts":          {413, `{"error":"batch size 40 > maximum allowed batch size 32"}`, model.CodeTooLarge, false},
		"too many texts, in 422":  {422, `{"error":"batch size 40 > maximum allowed batch size 32"}`, model.CodeTooLarge, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := reranker(t, model.RerankCohere, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, test.body)
			})
			_, err := r.Rerank(t.Context(), "q", []string{"a", "b"})
			if e, ok := errors.AsType[*model.Error](err); !ok || e.Code != test.code || e.Retryable != test.retryable || e.Provider != "raw" {
				t.Errorf("got %#v", err)
			}
		})
	}
	t.Run("an endpoint that does not answer", func(t *testing.T) {
		t.Parallel()
		server := modeltest.New(modeltest.Options{})
		t.Cleanup(server.Close)
		server.ScriptReranks(modeltest.Hang())
		endpoint := server.Endpoint()
		endpoint.Timeout = 50 * time.Millisecond
		_, err := model.NewReranker(endpoint, model.RerankTEI, nil).Rerank(t.Context(), "q", []string{"a"})
		if e, ok := errors.AsType[*model.Error](err); !ok || e.Code != model.CodeTimeout {
			t.Errorf("got %v", err)
		}
	})
}

func TestCallTool(t *testing.T) {
	t.Parallel()
	server := modeltest.New(modeltest.Options{Tools: map[string]string{"grade": `{"grade":3}`}})
	t.Cleanup(server.Close)
	client := model.New(server.Endpoint(), nil)
	request := model.ToolRequest{System: "s", User: "u", Tool: model.Tool{Name: "grade", Parameters: []byte(`{"type":"object"}`)}}
	arguments, usage, err := client.CallTool(t.Context(), request)
	if err != nil || arguments != `{"grade":3}` || usage.PromptTokens == 0 {
		t.Errorf("got %s, %+v, %v", arguments, usage, err)
	}
	server.ScriptChat(modeltest.Call(model.ToolCall{ID: "1", Name: "other", Arguments: "{}"}))
	_, _, err = client.CallTool(t.Context(), request)
	if e, ok := errors.AsType[*model.Error](err); !ok || e.Code != model.CodeBadResponse {
		t.Errorf("got %v", err)
	}
}
