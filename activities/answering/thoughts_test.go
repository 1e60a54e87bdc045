package answering_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
)

// thinks returns a model that reasons, and then streams words. Without words it fails.
func thinks(thoughts, words []string) scripted {
	return scripted{say: func(_ context.Context, yield func(model.Delta, error) bool) {
		for _, t := range thoughts {
			yield(model.Delta{Reasoning: t}, nil)
			time.Sleep(time.Second)
		}
		for _, w := range words {
			yield(model.Delta{Text: w}, nil)
			time.Sleep(time.Second)
		}
		if words == nil {
			yield(model.Delta{}, &model.Error{Code: model.CodeEnded, Provider: "scripted", Retryable: true})
			return
		}
		yield(done(), nil)
	}}
}

// thought returns the reasoning that readers of a log have, and how often they dropped it.
func (f *fixture) thought() (text string, resets int) {
	f.Helper()
	for _, item := range f.Workflows.Items() {
		if item.Topic != stream.TopicReasoning {
			continue
		}
		event, err := stream.DecodeEvent(item.Data)
		f.Must(err)
		if len(event.Data) > 0 {
			text = ""
			resets++
		}
		text += event.Text
	}
	return text, resets
}

// TestReasoning: the reasoning of a model has events of its own, is no part of the answer, and a
// repeated call neither repeats nor mixes it.
func TestReasoning(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		first, second []string
		hidden        string
		kind          knowledge.RunKind
		want          string
		resets        int
	}{
		"the same":                 {[]string{"Let me ", "see [1]"}, []string{"Let ", "me see [1]."}, "", knowledge.KindQuery, "Let me see [1].", 0},
		"other words":              {[]string{"Let me ", "see"}, []string{"Well"}, "", knowledge.KindQuery, "Well", 1},
		"words that differ later":  {[]string{"Let me see"}, []string{"Let me ", "look"}, "", knowledge.KindQuery, "Let me look", 1},
		"none at first":            {nil, []string{"Well"}, "show", knowledge.KindQuery, "Well", 0},
		"hidden":                   {[]string{"Let me "}, []string{"Let me "}, "hide", knowledge.KindQuery, "", 0},
		"a tool has no such event": {[]string{"Let me "}, []string{"Let me "}, "", knowledge.KindTool, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, 2, func(f *fixture, contexts []context.Context) {
				run := f.Ask("what?", func(r *knowledge.Request) { r.Kind, r.Config.AI.Reasoning = tc.kind, tc.hidden })
				in := answering.ModelCallInput{RunRef: run, Turn: 1}
				f.AnswerWith(func(d *answering.Dependencies) { d.Chat = thinks(tc.first, nil) })
				_, err := f.Answering.CallModel(contexts[0], in)
				f.FailedWith(err, knowledge.CodeProviderFailed, true)
				f.AnswerWith(func(d *answering.Dependencies) { d.Chat = thinks(tc.second, []string{"The ", "answer."}) })
				result, err := f.Answering.CallModel(contexts[1], in)
				f.Must(err)
				f.WantAnswer(result, "The answer.", 0)
				if text, resets := f.thought(); text != tc.want || resets != tc.resets {
					f.Errorf("the reasoning is %q after %d resets, want %q after %d", text, resets, tc.want, tc.resets)
				}
				var turn record.ModelCall
				f.Must(f.Blobs.GetJSON(f.Ctx, result.Key, &turn))
				if turn.Raw != "The answer." || len(turn.Used) > 0 {
					f.Errorf("the stored turn has %q and cites %v", turn.Raw, turn.Used)
				}
			})
		})
	}
}

// TestReasoningReachesReaders: readers in the process get the same items at the same places as the
// log has them.
func TestReasoningReachesReaders(t *testing.T) {
	t.Parallel()
	inBubble(t, 1, func(f *fixture, contexts []context.Context) {
		in := answering.ModelCallInput{RunRef: f.Ask("what?"), Turn: 1}
		stop := f.Hub.Follow(in.Run)
		defer stop()
		f.AnswerWith(func(d *answering.Dependencies) {
			d.Chat = thinks([]string{"Let me ", "see"}, []string{"The ", "answer."})
		})
		_, err := f.Answering.CallModel(contexts[0], in)
		f.Must(err)
		given, _, _, _ := f.Hub.Since(in.Run, 0)
		if diff := cmp.Diff(f.Workflows.Items()[:len(given)], given); diff != "" || len(given) < 3 {
			f.Errorf("%d items; the hub differs from the log: %s", len(given), diff)
		}
	})
}
