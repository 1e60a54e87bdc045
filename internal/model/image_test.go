package model_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/model"
)

func TestImage(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status     int
		body, code string // code "" = no error
	}{
		"a picture":               {200, `{"created":1,"data":[{"b64_json":"cGljdHVyZQ=="}]}`, ""},
		"an address":              {200, `{"data":[{"url":"http://127.0.0.1/x.png"}]}`, model.CodeBadResponse},
		"no picture":              {200, `{"data":[]}`, model.CodeBadResponse},
		"what is not base64":      {200, `{"data":[{"b64_json":"%%"}]}`, model.CodeBadResponse},
		"what is not JSON":        {200, `<html>`, model.CodeBadResponse},
		"a refusal":               {400, `{"error":{"message":"safety"}}`, model.CodeBadRequest},
		"an endpoint that limits": {429, `{"error":{"message":"slow down"}}`, model.CodeRateLimited},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := raw(t, func(w http.ResponseWriter, r *http.Request) {
				var got map[string]any
				if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
					t.Error(err)
				}
				want := map[string]any{"model": "dall-e-3", "prompt": "a pier", "size": "1024x1024", "n": 1.0, "response_format": "b64_json"}
				if diff := cmp.Diff(want, got); diff != "" || r.URL.Path != "/v1/images/generations" || r.Header.Get("Idempotency-Key") != "run-1-0" {
					t.Errorf("%s, key %q: %s", r.URL.Path, r.Header.Get("Idempotency-Key"), diff)
				}
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, test.body)
			}, dimensions(0))
			got, err := c.Image(t.Context(), model.ImageRequest{Model: "dall-e-3", Prompt: "a pier", Size: "1024x1024", Key: "run-1-0"})
			if test.code == "" {
				if err != nil || string(got) != "picture" {
					t.Errorf("%q, %v", got, err)
				}
			} else if e, ok := errors.AsType[*model.Error](err); !ok || e.Code != test.code {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("models that know no other format are not asked for it", func(t *testing.T) {
		t.Parallel()
		c := raw(t, func(w http.ResponseWriter, r *http.Request) {
			var got map[string]any
			if err := json.NewDecoder(r.Body).Decode(&got); err != nil || got["response_format"] != nil || got["size"] != nil {
				t.Errorf("%v, %v", got, err)
			}
			_, _ = io.WriteString(w, `{"data":[{"b64_json":"cGljdHVyZQ=="}]}`)
		}, dimensions(0))
		if _, err := c.Image(t.Context(), model.ImageRequest{Model: "gpt-image-1", Prompt: "a pier"}); err != nil {
			t.Error(err)
		}
	})
}
