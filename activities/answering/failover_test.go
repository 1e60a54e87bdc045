package answering_test

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
)

// endpointOf is an endpoint with some models, which say words and then fail or end.
type endpointOf struct {
	own    string            // its default model
	says   map[string]string // by model
	fails  map[string]string // codes by model
	called *[]string
}

func (e endpointOf) Endpoint() model.Endpoint {
	return model.Endpoint{Provider: "at-" + e.own, Model: e.own}
}

func (e endpointOf) Chat(_ context.Context, r model.ChatRequest) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		name := r.Model
		if name == "" {
			name = e.own
		}
		*e.called = append(*e.called, name)
		for word := range strings.SplitAfterSeq(e.says[name], " ") {
			if word != "" && !yield(model.Delta{Text: word}, nil) {
				return
			}
		}
		if code := e.fails[name]; code != "" {
			yield(model.Delta{}, &model.Error{Code: code, Provider: "at-" + e.own, Status: 503, Retryable: true})
			return
		}
		yield(model.Delta{Done: &model.Completion{FinishReason: model.FinishLength, Model: name}}, nil)
	}
}

func TestFailover(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		names  []string // ai.failover
		first  endpointOf
		second *endpointOf
		text   string
		resets int
		called []string
		events []string // of failures: model>next
		fails  bool
	}{
		"of_the_instance":       {first: endpointOf{own: "a", fails: map[string]string{"a": model.CodeOverloaded}}, second: &endpointOf{own: "b", says: map[string]string{"b": "Yes."}}, text: "Yes.", called: []string{"a", "b"}, events: []string{"a>b"}},
		"in_mid_stream":         {names: []string{"c"}, first: endpointOf{own: "a", says: map[string]string{"a": "No, never ", "c": "Yes."}, fails: map[string]string{"a": model.CodeEnded}}, text: "Yes.", resets: 1, called: []string{"a", "c"}, events: []string{"a>c"}},
		"that_says_the_same":    {names: []string{"c"}, first: endpointOf{own: "a", says: map[string]string{"a": "Yes, ", "c": "Yes, always."}, fails: map[string]string{"a": model.CodeEnded}}, text: "Yes, always.", called: []string{"a", "c"}, events: []string{"a>c"}},
		"by_name_of_endpoint":   {names: []string{"b"}, first: endpointOf{own: "a", fails: map[string]string{"a": model.CodeRateLimited}}, second: &endpointOf{own: "b", says: map[string]string{"b": "Yes."}}, text: "Yes.", called: []string{"a", "b"}, events: []string{"a>b"}},
		"of_which_none_answers": {names: []string{"c", "a"}, first: endpointOf{own: "a", fails: map[string]string{"a": model.CodeOverloaded, "c": model.CodeTimeout}}, called: []string{"a", "c"}, events: []string{"a>c", "c>"}, fails: true},
		"of_an_only_model":      {first: endpointOf{own: "a", says: map[string]string{"a": "No, "}, fails: map[string]string{"a": model.CodeEnded}}, called: []string{"a"}, events: []string{"a>"}, fails: true},
		"is_not_needed":         {names: []string{"c"}, first: endpointOf{own: "a", says: map[string]string{"a": "Yes."}}, text: "Yes.", called: []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			var called []string
			test.first.called = &called
			f.AnswerWith(func(d *answering.Dependencies) { d.Chat = test.first })
			if test.second != nil {
				test.second.called = &called
				f.AnswerWith(func(d *answering.Dependencies) { d.Failover = []step.Chat{*test.second} })
			}
			run := knowledge.RunRef{Workspace: "w", Project: "p", Run: "run"}
			config := knowledge.ProjectConfig{}
			config.AI.Failover, config.AI.Prompt = test.names, "Answer."
			_, err := f.Blobs.PutJSON(f.Ctx, run.RequestKey(), knowledge.Request{Principal: activitytest.Manager(), Kind: knowledge.KindQuery, Question: "Who?", Config: config.WithDefaults()})
			f.Must(err)
			result, err := do(f, f.Answering.CallModel, answering.ModelCallInput{RunRef: run, Turn: 1})
			if (err != nil) != test.fails {
				t.Fatalf("error %v", err)
			}
			items := f.Workflows.Items()
			if err == nil {
				f.WantAnswer(result, test.text, test.resets)
			}
			var events []string
			for _, item := range items {
				if item.Topic != stream.TopicModelFailed {
					continue
				}
				event, err := stream.DecodeEvent(item.Data)
				f.Must(err)
				var failed record.ModelFailed
				f.Must(json.Unmarshal(event.Data, &failed))
				events = append(events, failed.Model+">"+failed.Next)
			}
			if diff := cmp.Diff(test.called, called); diff != "" {
				t.Errorf("called: %s", diff)
			}
			if diff := cmp.Diff(test.events, events); diff != "" {
				t.Errorf("events: %s", diff)
			}
		})
	}
}

// TestRateLimitReachesTheAsker asks a model that takes no more requests for a while.
func TestRateLimitReachesTheAsker(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		wait  time.Duration
		again bool // the run waits
	}{
		"for seconds": {20 * time.Second, true},
		"for an hour": {time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			f.AnswerWith(func(d *answering.Dependencies) { d.Chat = limited{test.wait} })
			run := knowledge.RunRef{Workspace: "w", Project: "p", Run: "run"}
			config := knowledge.ProjectConfig{}
			config.AI.Prompt = "Answer."
			_, err := f.Blobs.PutJSON(f.Ctx, run.RequestKey(), knowledge.Request{Principal: activitytest.Manager(), Kind: knowledge.KindQuery, Question: "Who?", Config: config.WithDefaults()})
			f.Must(err)
			began := time.Now()
			_, err = do(f, f.Answering.CallModel, answering.ModelCallInput{RunRef: run, Turn: 1})
			f.FailedWith(err, knowledge.CodeRateLimited, test.again)
			near := func(at time.Time) bool {
				return at.After(began.Add(test.wait-2*time.Second)) && at.Before(time.Now().Add(test.wait+2*time.Second))
			}
			if got := step.Describe(err, knowledge.Failure{}); !near(got.RetryAt) || !strings.Contains(got.Message, got.RetryAt.Format(time.RFC3339)) {
				t.Errorf("the failure is %+v", got)
			}
			var waits []record.ModelFailed
			for _, item := range f.Workflows.Items() {
				if item.Topic == stream.TopicModelFailed {
					event, err := stream.DecodeEvent(item.Data)
					f.Must(err)
					waits = append(waits, record.ModelFailed{})
					f.Must(json.Unmarshal(event.Data, &waits[len(waits)-1]))
				}
			}
			if test.again != (len(waits) == 1) || test.again && (!near(waits[0].RetryAt) || waits[0].Model != "busy" || waits[0].Code != model.CodeRateLimited) {
				t.Errorf("readers see %+v", waits)
			}
		})
	}
}

// limited is a model that takes no requests for a while.
type limited struct{ wait time.Duration }

func (limited) Endpoint() model.Endpoint { return model.Endpoint{Provider: "p", Model: "busy"} }

func (l limited) Chat(context.Context, model.ChatRequest) iter.Seq2[model.Delta, error] {
	return func(yield func(model.Delta, error) bool) {
		yield(model.Delta{}, &model.Error{Code: model.CodeRateLimited, Provider: "p", Status: 429, Retryable: true, RetryAfter: l.wait})
	}
}
