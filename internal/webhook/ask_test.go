package webhook_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/webhook"
)

// TestAsk asks webhooks of type queries that answer in every way.
func TestAsk(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		kind   string   // media type
		pieces []string // of the body
		fields string   // of the answer
		words  string   // that were forwarded
		fault  string
	}{
		"nothing":                      {kind: "application/json", pieces: []string{"{}"}},
		"every_field":                  {kind: "application/json", pieces: []string{`{"chunks":[],"prompt":[],"answer":"a","searchResults":[],"blocks":[{}],"aiParameters":{"max_tokens":5},"filters":[]}`}, fields: "chunks prompt answer searchResults blocks aiParameters filters"},
		"text_cut_inside_a_letter":     {kind: "text/plain; charset=utf-8", pieces: []string{"a\xc3", "\xa9\xf0\x9f", "\x98\x80b"}, fields: "answer", words: "aé😀b"},
		"events_of_openai":             {kind: "text/event-stream", pieces: []string{"data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n: ping\n\nda", "ta: {\"choices\":[{\"delta\":{\"content\":\"b\"}}]}\n\ndata: [DONE]\n\n"}, fields: "answer", words: "ab"},
		"events_of_cairn":              {kind: "text/event-stream", pieces: []string{"event: apiMessageChunk\r\ndata: {\"chunk\":{\"data\":\"a\"}}\r\n\r\ndata: {\"answer\":\"a\",\"blocks\":[{\"slug\":\"x\"}]}\r\n\r\n"}, fields: "answer blocks", words: "a"},
		"events_of_words":              {kind: "text/event-stream", pieces: []string{"data: a \n\ndata: \"b \"\n\ndata: {\"text\":\"c\"}"}, fields: "answer", words: "a b c"},
		"no_json":                      {kind: "application/json", pieces: []string{"<html>"}, fault: "not JSON"},
		"a_wrong_type":                 {kind: "application/json", pieces: []string{`{"answer":5}`}, fault: "not JSON"},
		"a_filter_that_does_not_exist": {kind: "application/json", pieces: []string{`{"filters":[{"field":"tags","type":"near","value":["a"]}]}`}, fields: "filters", fault: "filters[0]"},
		"a_role_that_does_not_exist":   {kind: "application/json", pieces: []string{`{"prompt":[{"role":"root","content":"x"}]}`}, fields: "prompt", fault: "role"},
		"a_temperature_out_of_range":   {kind: "application/json", pieces: []string{`{"aiParameters":{"temperature":9}}`}, fields: "aiParameters", fault: "out of range"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", test.kind)
				for _, piece := range test.pieces {
					_, _ = w.Write([]byte(piece)) // the test reads what came
					w.(http.Flusher).Flush()
				}
			}))
			t.Cleanup(server.Close)
			var words strings.Builder
			asked, err := webhook.NewSender(server.Client()).Ask(t.Context(), webhook.Message{ID: "1", URL: server.URL, Secret: webhook.NewSecret()}, func(text string) error {
				words.WriteString(text)
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.fields, strings.Join(asked.Answer.Names(), " ")); diff != "" {
				t.Error(diff)
			}
			if words.String() != test.words || test.words != "" && *asked.Answer.Answer != test.words {
				t.Errorf("forwarded %q", words.String())
			}
			if (test.fault == "") != (asked.Error == "") || !strings.Contains(asked.Error, test.fault) {
				t.Errorf("failure %q, want %q", asked.Error, test.fault)
			}
		})
	}
	t.Run("a_status_that_is_no_answer", func(t *testing.T) {
		t.Parallel()
		server := httptest.NewServer(http.NotFoundHandler())
		t.Cleanup(server.Close)
		asked, err := webhook.NewSender(server.Client()).Ask(t.Context(), webhook.Message{URL: server.URL}, nil)
		if err != nil || asked.HTTPStatus != 404 || !strings.Contains(asked.Error, "404") {
			t.Errorf("%+v, %v", asked, err)
		}
	})
	t.Run("a_caller_that_leaves", func(t *testing.T) {
		t.Parallel()
		asked := make(chan struct{})
		server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			close(asked)
			<-r.Context().Done()
		}))
		t.Cleanup(server.Close)
		ctx, leave := context.WithCancel(t.Context())
		go func() { <-asked; leave() }()
		if _, err := webhook.NewSender(server.Client()).Ask(ctx, webhook.Message{URL: server.URL}, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
}
