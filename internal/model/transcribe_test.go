package model_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/model"
)

const heard = `{"task":"transcribe","language":"english","duration":4.5,"text":"One. Two.","segments":[` +
	`{"id":0,"start":0.5,"end":2,"text":" One."},{"id":1,"start":2,"end":1.5,"text":" Two."}]}`

// sound opens a recording.
func sound() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("sound")), nil }

func TestTranscribe(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int
		body   string
		code   string // "" = no error
	}{
		"segments":                        {200, heard, ""},
		"text without segments":           {200, `{"text":"One. Two."}`, model.CodeSegments},
		"not JSON":                        {200, `<html>`, model.CodeBadResponse},
		"half an answer":                  {200, heard[:80], model.CodeEnded},
		"segments of another shape":       {200, `{"segments":"none"}`, model.CodeBadResponse},
		"an endpoint that fails":          {500, `{"error":{"message":"oops"}}`, model.CodeOverloaded},
		"an endpoint that limits":         {429, `{"error":{"message":"slow down"}}`, model.CodeRateLimited},
		"a recording that is too large":   {413, `{"error":{"message":"Maximum content size limit (26214400) exceeded"}}`, model.CodeTooLarge},
		"a recording that is too long":    {400, `{"error":{"message":"audio duration 1500 seconds is longer than 1400 seconds which is the maximum"}}`, model.CodeTooLarge},
		"a recording that is not decoded": {400, `{"error":{"message":"The audio file could not be decoded or its format is not supported."}}`, model.CodeUnreadable},
		"a recording of another kind":     {415, `{"detail":"Failed to decode audio."}`, model.CodeUnreadable},
		"a model without segments":        {400, `{"error":{"message":"response_format 'verbose_json' is not compatible with this audio model. Use 'json' instead."}}`, model.CodeBadRequest},
		"a wrong key":                     {401, `{"error":{"message":"Incorrect API key"}}`, model.CodeUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := raw(t, func(w http.ResponseWriter, r *http.Request) {
				file, header, err := r.FormFile("file")
				if err != nil || r.URL.Path != "/v1/audio/transcriptions" || header.Filename != "recording.mp3" || r.FormValue("response_format") != "verbose_json" {
					t.Errorf("asked for %s, %v", r.URL.Path, err)
					return
				}
				if content, err := io.ReadAll(file); err != nil || string(content) != "sound" {
					t.Errorf("sent %q, %v", content, err)
				}
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, test.body)
			}, dimensions(0))
			got, err := c.Transcribe(t.Context(), "recording.mp3", sound)
			if test.code != "" {
				retryable := test.code == model.CodeBadResponse || test.code == model.CodeEnded || test.code == model.CodeOverloaded || test.code == model.CodeRateLimited
				if e, ok := errors.AsType[*model.Error](err); !ok || e.Code != test.code || e.Retryable != retryable || e.Public().Message == "the model's endpoint " {
					t.Errorf("got %#v", err)
				}
				return
			}
			want := model.Transcript{Language: "english", Duration: 4.5, Segments: []model.Speech{{Start: .5, End: 2, Text: " One."}, {Start: 2, End: 2, Text: " Two."}}}
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%s, %v", diff, err)
			}
		})
	}
}
