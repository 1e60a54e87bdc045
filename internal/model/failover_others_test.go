package model_test

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/model"
)

// answering answers each request in the same way.
func answering(status int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// vanishing breaks each connection.
func vanishing(w http.ResponseWriter, _ *http.Request) {
	c, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		_ = c.Close()
	}
}

// unheard returns an address on which nobody listens.
func unheard(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	return "http://" + l.Addr().String()
}

// TestImageFailsOver asks another endpoint only where the first has made no picture, which
// costs, and not because of what the picture shows.
func TestImageFailsOver(t *testing.T) {
	t.Parallel()
	const picture = `{"data":[{"b64_json":"cGljdHVyZQ=="}]}`
	for name, test := range map[string]struct {
		first http.HandlerFunc // nil = nobody listens
		next  bool             // the second is asked
	}{
		"that_is_not_there":            {nil, true},
		"that_limits_requests":         {answering(429, `{}`), true},
		"that_is_overloaded":           {answering(503, `{}`), true},
		"that_does_not_know_the_model": {answering(404, `{"error":{"code":"model_not_found","message":"The model 'first' does not exist"}}`), true},
		"with_a_wrong_key":             {answering(401, `{}`), true},
		"that_refuses_the_words":       {answering(400, `{"error":{"code":"content_policy_violation","message":"safety"}}`), false},
		"that_breaks_off":              {vanishing, false},
		"without_a_picture_in_it":      {answering(200, `{"data":[]}`), false},
		"that_answers":                 {answering(200, picture), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			second := raw(t, func(w http.ResponseWriter, r *http.Request) {
				asked++
				body, err := io.ReadAll(r.Body)
				if err != nil || !strings.Contains(string(body), `"model":"second"`) || r.Header.Get("Idempotency-Key") != "run-1-0" {
					t.Errorf("asked for %s, %v", body, err)
				}
				_, _ = io.WriteString(w, picture)
			}, func(e *model.Endpoint) { e.Model = "second" })
			first := model.New(model.Endpoint{BaseURL: unheard(t), Model: "first"}, nil)
			if test.first != nil {
				first = raw(t, test.first, func(e *model.Endpoint) { e.Model = "first" })
			}
			got, err := first.WithFailover(slog.New(slog.DiscardHandler), second).Image(t.Context(), model.ImageRequest{Prompt: "a pier", Key: "run-1-0"})
			if (asked > 0) != test.next || (string(got) == "picture") != (err == nil) || test.next && err != nil {
				t.Errorf("the second was asked %d times: %q, %v", asked, got, err)
			}
		})
	}
}

func TestTranscribeFailsOver(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		first http.HandlerFunc
		next  bool
	}{
		"that_is_overloaded":         {answering(503, `{}`), true},
		"with_a_wrong_key":           {answering(401, `{}`), true},
		"that_breaks_off":            {vanishing, true},
		"that_cannot_decode_it":      {answering(400, `{"error":{"message":"The audio file could not be decoded"}}`), false},
		"that_takes_no_such_lengths": {answering(413, `{}`), false},
		"that_answers":               {answering(200, heard), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			second := raw(t, func(w http.ResponseWriter, r *http.Request) {
				asked++
				file, _, err := r.FormFile("file")
				if err != nil {
					t.Error(err)
					return
				}
				if content, err := io.ReadAll(file); err != nil || string(content) != "sound" || r.FormValue("model") != "second" {
					t.Errorf("sent %q for %s, %v", content, r.FormValue("model"), err)
				}
				_, _ = io.WriteString(w, heard)
			}, func(e *model.Endpoint) { e.Model = "second" })
			first := raw(t, func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				test.first(w, r)
			}, dimensions(0))
			got, err := first.WithFailover(slog.New(slog.DiscardHandler), second).Transcribe(t.Context(), "recording.mp3", sound)
			if (asked > 0) != test.next || (len(got.Segments) == 2) != (err == nil) || test.next && err != nil {
				t.Errorf("the second was asked %d times: %+v, %v", asked, got, err)
			}
		})
	}
	t.Run("a recording that cannot be opened is its own error", func(t *testing.T) {
		t.Parallel()
		gone := errors.New("gone")
		c := raw(t, answering(200, heard), dimensions(0))
		if _, err := c.Transcribe(t.Context(), "a.mp3", func() (io.ReadCloser, error) { return nil, gone }); !errors.Is(err, gone) {
			t.Errorf("error %v", err)
		}
	})
}

func TestRerankFailsOver(t *testing.T) {
	t.Parallel()
	second := reranker(t, model.RerankTEI, answering(200, `[{"index":1,"score":2},{"index":0,"score":1}]`))
	for name, first := range map[string]http.HandlerFunc{
		"that is overloaded": answering(503, `{}`), "that breaks off": vanishing, "whose scores are wrong": answering(200, `{"results":[]}`), "with a wrong key": answering(401, `{}`),
	} {
		scores, calls, _, err := reranker(t, model.RerankCohere, first).WithFailover(slog.New(slog.DiscardHandler), second).RerankCounted(t.Context(), "q", []string{"a", "b"})
		if err != nil || calls != 2 || !slices.Equal(scores, []float64{1, 2}) {
			t.Errorf("one %s: %v after %d calls, %v", name, scores, calls, err)
		}
	}
	broken := reranker(t, model.RerankCohere, answering(503, `{}`))
	_, err := broken.WithFailover(slog.New(slog.DiscardHandler), reranker(t, model.RerankCohere, answering(401, `{}`))).Rerank(t.Context(), "q", []string{"a"})
	if e, ok := errors.AsType[*model.Error](err); !ok || e.Code != model.CodeOverloaded {
		t.Errorf("error %v, want the one that a retry can help", err)
	}
}

// TestAzurePicturesAndTranscripts asks a resource of Azure OpenAI by the name of its
// deployment.
func TestAzurePicturesAndTranscripts(t *testing.T) {
	t.Parallel()
	for version, want := range map[string][]string{
		"2024-10-21": {
			"/openai/deployments/ours/images/generations?api-version=2024-10-21", "/openai/deployments/ours/audio/transcriptions?api-version=2024-10-21",
		},
		"": {"/openai/v1/images/generations", "/openai/v1/audio/transcriptions"},
	} {
		var asked []string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.URL.RequestURI())
			body, err := io.ReadAll(r.Body)
			if err != nil || !strings.Contains(string(body), "ours") || r.Header.Get("api-key") != "k" || r.Header.Get("Authorization") != "" {
				t.Errorf("%s with %v: %v", r.URL, r.Header, err)
			}
			if strings.Contains(r.URL.Path, "images") {
				_, _ = io.WriteString(w, `{"data":[{"b64_json":"cGljdHVyZQ=="}]}`)
				return
			}
			_, _ = io.WriteString(w, heard)
		}))
		t.Cleanup(server.Close)
		c := model.New(model.Endpoint{BaseURL: server.URL, Azure: true, APIVersion: version, Model: "dall-e-3", Deployment: "ours", APIKey: "k"}, nil)
		if _, err := c.Image(t.Context(), model.ImageRequest{Prompt: "a pier"}); err != nil {
			t.Error(err)
		}
		if _, err := c.Transcribe(t.Context(), "a.mp3", sound); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(want, asked); diff != "" {
			t.Error(diff)
		}
	}
}
