package pipeline_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/pipeline"
	"github.com/cairn-rag/cairn/internal/sandbox"
	"github.com/cairn-rag/cairn/internal/webhook"
)

// instance is a project whose secret is not sealed.
type instance struct{ secret string }

// ProjectForSystem implements Runner.Projects.
func (i instance) ProjectForSystem(context.Context, string, string) (knowledge.Project, error) {
	return knowledge.Project{ID: "p", CallbackSecret: i.secret}, nil
}

// Open implements Runner.Secrets.
func (i instance) Open(sealed, _ string) (string, error) { return sealed, nil }

// TestAddress sends a step to an address that fails in every way.
func TestAddress(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		answers   []int // the statuses; the last one repeats
		want      string
		requests  int
		retryable bool
	}{
		"answered":                 {answers: []int{200}, want: `{"a":1}`, requests: 1},
		"busy once":                {answers: []int{503, 200}, want: `{"a":1}`, requests: 2},
		"busy":                     {answers: []int{429}, requests: 3, retryable: true},
		"a refusal is not retried": {answers: []int{400}, requests: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			secret := webhook.NewSecret()
			var mu sync.Mutex
			ids := []string{}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				verifier, wrong := standardwebhooks.NewWebhook(secret)
				if err != nil || wrong != nil || verifier.Verify(body, r.Header) != nil {
					t.Errorf("the request is not signed: %v, %v", err, wrong)
				}
				mu.Lock()
				defer mu.Unlock()
				ids = append(ids, r.Header.Get("webhook-id"))
				w.WriteHeader(tt.answers[min(len(ids), len(tt.answers))-1])
				_, _ = io.WriteString(w, `{"a":1}`) // the test reads what came
			}))
			t.Cleanup(server.Close)
			of := instance{secret}
			r := &pipeline.Runner{Projects: of, Secrets: of, Sender: webhook.NewSender(server.Client())}
			got, err := r.Run(t.Context(), pipeline.Call{Workspace: "w", Project: "p", ID: "id of the event", Input: []byte(`{}`),
				Step: knowledge.PipelineStep{At: knowledge.PipelineExtracted, Webhook: &knowledge.PipelineWebhook{URL: server.URL}}})
			if string(got) != tt.want && tt.want != "" || len(ids) != tt.requests || strings.Join(ids, "") != strings.Repeat("id of the event", tt.requests) {
				t.Errorf("%q after the requests %q", got, ids)
			}
			if (tt.want == "") != knowledge.IsCode(err, knowledge.CodeStepFailed) || err != nil && knowledge.AsError(err).Retryable != tt.retryable {
				t.Errorf("error %v", err)
			}
		})
	}
	t.Run("a question that keeps personal data from providers", func(t *testing.T) {
		t.Parallel()
		_, err := (&pipeline.Runner{}).Run(t.Context(), pipeline.Call{Private: true, Step: knowledge.PipelineStep{Webhook: &knowledge.PipelineWebhook{URL: "https://a.example.com"}}})
		if !knowledge.IsCode(err, knowledge.CodeStepFailed) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("a silent address", func(t *testing.T) {
		t.Parallel()
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
		t.Cleanup(server.Close)
		r := &pipeline.Runner{Projects: instance{}, Secrets: instance{}, Sender: webhook.NewSender(server.Client())}
		_, err := r.Run(t.Context(), pipeline.Call{Once: true, Step: knowledge.PipelineStep{Timeout: 1, Webhook: &knowledge.PipelineWebhook{URL: server.URL}}})
		if e := knowledge.AsError(err); !e.Retryable || !strings.Contains(e.Message, "1 seconds") {
			t.Errorf("error %v", err)
		}
	})
}

// TestCode runs code in the sandbox.
func TestCode(t *testing.T) {
	t.Parallel()
	box := sandbox.New(sandbox.Config{})
	if err := box.Available(); err != nil {
		t.Skipf("no sandbox: %v", err)
	}
	r := &pipeline.Runner{Sandbox: box}
	run := func(language, source string) (string, error) {
		got, err := r.Run(t.Context(), pipeline.Call{Input: []byte(`{"question":"é?"}`), Step: knowledge.PipelineStep{Timeout: 60, Code: &knowledge.PipelineCode{Language: language, Source: source}}})
		return string(got), err
	}
	if got, err := run("python", "import json, sys\ngiven = json.load(sys.stdin)\nprint(json.dumps({'question': given['question'].upper()}))"); err != nil || strings.TrimSpace(got) != `{"question": "\u00c9?"}` {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := run("python", "raise ValueError('the third line')"); !knowledge.IsCode(err, knowledge.CodeStepFailed) || !strings.Contains(err.Error(), "the third line") {
		t.Errorf("error %v", err)
	}
	if !sandbox.Has(sandbox.JavaScript) {
		if _, err := run("javascript", "1"); !knowledge.IsCode(err, knowledge.CodeNeedsComponent) {
			t.Errorf("without node: %v", err)
		}
		return
	}
	if got, err := run("javascript", `const given = JSON.parse(require("fs").readFileSync(0, "utf8")); console.log(JSON.stringify({ question: given.question + "!" }))`); err != nil || strings.TrimSpace(got) != `{"question":"é?!"}` {
		t.Errorf("%q, %v", got, err)
	}
}
