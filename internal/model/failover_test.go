package model_test

import (
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/model"
)

// endpointNamed is an endpoint without a client.
type endpointNamed string

func (e endpointNamed) Endpoint() model.Endpoint { return model.Endpoint{Model: string(e)} }

func TestCandidates(t *testing.T) {
	t.Parallel()
	endpoints := []endpointNamed{"a", "b", "c"}
	for name, test := range map[string]struct {
		model    string
		failover []string
		want     []string // endpoint:model
	}{
		"those_of_the_instance":        {"", nil, []string{"a:a", "b:b", "c:c"}},
		"another_model_of_the_first":   {"x", nil, []string{"a:x", "b:b", "c:c"}},
		"the_model_of_another":         {"b", nil, []string{"b:b", "a:a", "c:c"}},
		"those_of_a_project":           {"", []string{"c", "x"}, []string{"a:a", "c:c", "a:x"}},
		"a_model_that_is_named_twice":  {"x", []string{"x", "b", "b"}, []string{"a:x", "b:b"}},
		"the_first_behind_another_one": {"c", []string{"a"}, []string{"c:c", "a:a"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, c := range model.Candidates(endpoints, test.model, test.failover) {
				got = append(got, string(c.Client)+":"+c.Model())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFirstReturnsTheErrorThatARetryCanHelp(t *testing.T) {
	t.Parallel()
	failures := map[string]*model.Error{
		"a": {Code: model.CodeUnauthorized},
		"b": {Code: model.CodeRateLimited, Retryable: true, RetryAfter: 9 * time.Second},
		"c": {Code: model.CodeRateLimited, Retryable: true, RetryAfter: 3 * time.Second},
	}
	var failed []string
	_, err := model.First(t.Context(), model.Candidates([]endpointNamed{"a", "b", "c"}, "", nil), func(f model.Failed) {
		failed = append(failed, f.Model+">"+f.Next)
	}, func(c model.Candidate[endpointNamed]) (int, error) { return 0, failures[c.Model()] })
	if !errors.Is(err, failures["c"]) {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff([]string{"a>b", "b>c", "c>"}, failed); diff != "" {
		t.Error(diff)
	}
}

// TestFirstTellsOfAnOnlyModel has one model, which fails in a way that a retry can help, or not.
func TestFirstTellsOfAnOnlyModel(t *testing.T) {
	t.Parallel()
	for retryable, want := range map[bool]int{true: 1, false: 0} {
		told, failure := 0, &model.Error{Code: model.CodeOverloaded, Retryable: retryable}
		_, err := model.First(t.Context(), model.Candidates([]endpointNamed{"a"}, "", nil), func(f model.Failed) {
			if told++; f.Model != "a" || f.Next != "" {
				t.Errorf("%+v", f)
			}
		}, func(model.Candidate[endpointNamed]) (int, error) { return 0, failure })
		if !errors.Is(err, failure) || told != want {
			t.Errorf("retryable %t: told %d times, %v", retryable, told, err)
		}
	}
}

func TestForwardChatFailsOver(t *testing.T) {
	t.Parallel()
	whole := `{"model":"second","choices":[{"message":{"content":"Hello"}}]}`
	write := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
	}
	fail := func(status int) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, `{"error":{"code":"bad_field","param":"n"}}`)
		}
	}
	for name, test := range map[string]struct {
		first    http.HandlerFunc
		streamed bool
		asked    bool // the second one
		want     string
		code     string
	}{
		"that_is_overloaded":              {fail(503), false, true, whole, ""},
		"whose_answer_is_garbage":         {write("<html>"), false, true, whole, ""},
		"whose_answer_breaks_off":         {write(`{"choices":[`), false, true, whole, ""},
		"that_knows_no_such_model":        {fail(404), false, true, whole, ""},
		"that_refuses_the_request":        {fail(400), false, false, "", model.CodeBadRequest},
		"that_streams_an_error":           {write(say(inBand)), true, true, "Hello", ""},
		"whose_stream_has_no_event":       {write(": ping\n\n"), true, true, "Hello", ""},
		"whose_stream_ends_in_the_middle": {write(say(hello)), true, false, "Hel", model.CodeEnded},
		"that_answers":                    {write(say(hello, lo, stop, done)), true, false, "Hello", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Bool
			first := raw(t, test.first)
			second := raw(t, func(w http.ResponseWriter, r *http.Request) {
				asked.Store(true)
				var body map[string]any
				if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body["model"] != "second" || body["seed"] != 7.0 {
					t.Errorf("body %v, %v", body, err)
				}
				if test.streamed {
					_, _ = io.WriteString(w, say(hello, lo, stop, done))
				} else {
					_, _ = io.WriteString(w, whole)
				}
			}, func(e *model.Endpoint) { e.Model = "second" })
			chats := model.NewChats(slog.New(slog.DiscardHandler), first, second)
			text := ""
			answer, err := chats.ForwardChat(t.Context(), []byte(`{"model":"m","seed":7}`), test.streamed)
			if err == nil {
				defer answer.Close()
				text = string(answer.Whole())
				for event, failed := range answer.Events() {
					err = failed
					_, word, _ := strings.Cut(string(event), `"content":"`)
					word, _, _ = strings.Cut(word, `"`)
					text += word
				}
			}
			if text != test.want || asked.Load() != test.asked {
				t.Errorf("%q, the second one was asked: %t", text, asked.Load())
			}
			if e, _ := errors.AsType[*model.Error](err); test.code == "" && err != nil || test.code != "" && (e == nil || e.Code != test.code) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestEmbeddingsFailOver(t *testing.T) {
	t.Parallel()
	vector := func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"data":[{"index":0,"embedding":"AACAPwAAAEA="}]}`)
	}
	for name, test := range map[string]struct {
		first, second int // statuses
		fails         string
	}{
		"where_the_first_is_overloaded": {503, 200, ""},
		"where_its_key_is_refused":      {401, 200, ""},
		"not_where_a_text_is_refused":   {400, 200, model.CodeBadRequest},
		"and_the_first_error_remains":   {503, 401, model.CodeOverloaded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := func(status int) *model.Client {
				return raw(t, func(w http.ResponseWriter, r *http.Request) {
					if status == 200 {
						vector(w, r)
						return
					}
					w.WriteHeader(status)
				})
			}
			c := at(test.first).WithFailover(slog.New(slog.DiscardHandler), at(test.second)).As("m", 2)
			vectors, _, err := c.Embed(t.Context(), []string{"a"})
			if e, _ := errors.AsType[*model.Error](err); test.fails != "" && (e == nil || e.Code != test.fails) {
				t.Errorf("error %v", err)
			}
			if test.fails == "" && (err != nil || len(vectors) != 1) {
				t.Errorf("%v, %v", vectors, err)
			}
		})
	}
}
