package model_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/model"
)

func dimensions(n int) func(*model.Endpoint) {
	return func(e *model.Endpoint) { e.Dimensions = n }
}

func TestEmbed(t *testing.T) {
	t.Parallel()
	// AACAPwAAAEA= is 1, 2 and AABAQAAAgEA= is 3, 4, little-endian.
	for name, test := range map[string]struct {
		body string
		code string // "" = no error
	}{
		"base64":                {`{"data":[{"index":0,"embedding":"AACAPwAAAEA="},{"index":1,"embedding":"AABAQAAAgEA="}],"usage":{"prompt_tokens":4}}`, ""},
		"numbers":               {`{"data":[{"index":0,"embedding":[1,2]},{"index":1,"embedding":[3,4]}],"usage":{"prompt_tokens":4}}`, ""},
		"another order":         {`{"data":[{"index":1,"embedding":[3,4]},{"index":0,"embedding":[1,2]}],"usage":{"prompt_tokens":4}}`, ""},
		"no indices":            {`{"data":[{"embedding":[1,2]},{"embedding":[3,4]}],"usage":{"prompt_tokens":4}}`, ""},
		"too few":               {`{"data":[{"index":0,"embedding":[1,2]}]}`, model.CodeBadResponse},
		"too many":              {`{"data":[{"embedding":[1,2]},{"embedding":[1,2]},{"embedding":[1,2]}]}`, model.CodeBadResponse},
		"none":                  {`{"data":[]}`, model.CodeBadResponse},
		"an index twice":        {`{"data":[{"index":1,"embedding":[1,2]},{"index":1,"embedding":[3,4]}]}`, model.CodeBadResponse},
		"an index out of range": {`{"data":[{"index":1,"embedding":[1,2]},{"index":2,"embedding":[3,4]}]}`, model.CodeBadResponse},
		"a negative index":      {`{"data":[{"index":-1,"embedding":[1,2]},{"index":0,"embedding":[3,4]}]}`, model.CodeBadResponse},
		"another length":        {`{"data":[{"index":0,"embedding":[1,2,3]},{"index":1,"embedding":[3,4,5]}]}`, model.CodeDimensions},
		"no numbers":            {`{"data":[{"index":0,"embedding":[]},{"index":1,"embedding":[]}]}`, model.CodeBadResponse},
		"an infinite number":    {`{"data":[{"index":0,"embedding":"AACAfwAAAEA="},{"index":1,"embedding":"AABAQAAAgEA="}]}`, model.CodeBadResponse},
		"a NaN":                 {`{"data":[{"index":0,"embedding":"AADAfwAAAEA="},{"index":1,"embedding":"AABAQAAAgEA="}]}`, model.CodeBadResponse},
		"a number out of range": {`{"data":[{"index":0,"embedding":[1e99,2]},{"index":1,"embedding":[3,4]}]}`, model.CodeBadResponse},
		"not base64":            {`{"data":[{"index":0,"embedding":"!"},{"index":1,"embedding":"!"}]}`, model.CodeBadResponse},
		"not JSON":              {`<html>`, model.CodeBadResponse},
		"nothing":               {``, model.CodeBadResponse},
		"half an answer":        {`{"data":[{"index":0,"emb`, model.CodeEnded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int32
			c := raw(t, func(w http.ResponseWriter, _ *http.Request) {
				calls.Add(1)
				_, _ = io.WriteString(w, test.body)
			}, dimensions(2))
			vectors, usage, err := c.Embed(t.Context(), []string{"one", "two"})
			if calls.Load() != 1 {
				t.Errorf("%d calls", calls.Load())
			}
			if test.code != "" {
				if e, ok := errors.AsType[*model.Error](err); !ok || e.Code != test.code || e.Retryable == (test.code == model.CodeDimensions) || vectors != nil {
					t.Errorf("got %#v", err)
				}
				return
			}
			if err != nil || usage.PromptTokens != 4 {
				t.Fatalf("usage %+v, %v", usage, err)
			}
			if diff := cmp.Diff([][]float32{{1, 2}, {3, 4}}, vectors); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestEmbedAsks(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ refuses, says string }{
		"without base64 where it is refused":     {"encoding_format", "encoding_format is not supported"},
		"without dimensions where it is refused": {"dimensions", "Model does not support matryoshka representation"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var refused atomic.Int32
			c := raw(t, func(w http.ResponseWriter, r *http.Request) {
				var body map[string]any
				if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
					t.Error(err)
				}
				if _, ok := body[test.refuses]; ok {
					refused.Add(1)
					w.WriteHeader(http.StatusBadRequest)
					_, _ = io.WriteString(w, test.says)
					return
				}
				_, _ = io.WriteString(w, `{"data":[{"embedding":[1,2]}]}`)
			}, dimensions(2))
			for range 2 {
				if _, _, err := c.Embed(t.Context(), []string{"x"}); err != nil {
					t.Fatal(err)
				}
			}
			if refused.Load() != 1 {
				t.Errorf("refused %d times", refused.Load())
			}
		})
	}
	t.Run("a refusal of everything is an error", func(t *testing.T) {
		t.Parallel()
		var calls atomic.Int32
		c := raw(t, func(w http.ResponseWriter, _ *http.Request) {
			calls.Add(1)
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, "encoding_format and dimensions and everything else is wrong")
		}, dimensions(2))
		_, _, err := c.Embed(t.Context(), []string{"x"})
		if e, ok := errors.AsType[*model.Error](err); !ok || e.Code != model.CodeBadRequest || calls.Load() != 3 {
			t.Errorf("%d calls, %v", calls.Load(), err)
		}
	})
	for status, text := range map[int]string{
		http.StatusRequestEntityTooLarge: `{"error":"batch size 64 > maximum allowed batch size 32","error_type":"Validation"}`,
		http.StatusBadRequest:            `{"error":{"message":"Invalid 'input': maximum request size is 300000 tokens per request."}}`,
		http.StatusUnprocessableEntity:   `{"error":{"message":"too many tokens in batch"}}`,
	} {
		t.Run(fmt.Sprintf("a batch that is refused as too large with status %d is told from others", status), func(t *testing.T) {
			t.Parallel()
			c := raw(t, func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(status)
				_, _ = io.WriteString(w, text)
			})
			_, _, err := c.Embed(t.Context(), []string{"x", "y"})
			if e, ok := errors.AsType[*model.Error](err); !ok || e.Code != model.CodeTooLarge || e.Retryable {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("no more than the limit is read", func(t *testing.T) {
		t.Parallel()
		c := raw(t, func(w http.ResponseWriter, _ *http.Request) {
			block := strings.Repeat(" ", 1<<20)
			for range 20 {
				if _, err := io.WriteString(w, block); err != nil {
					return
				}
			}
		})
		_, _, err := c.Embed(t.Context(), []string{"x"})
		if e, ok := errors.AsType[*model.Error](err); !ok || e.Code != model.CodeBadResponse {
			t.Errorf("got %.200v", err)
		}
	})
}
