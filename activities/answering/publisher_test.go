package answering_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.temporal.io/sdk/activity"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/answering"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/internal/telemetry"
)

// words returns "word1 word2 …", as the stand-in model streams them.
func words(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "word%d ", i+1)
	}
	return strings.TrimSpace(b.String())
}

// failsAfter returns a model that streams words, and fails when readers have them. It
// runs in a synctest bubble.
func failsAfter(words ...string) scripted {
	return scripted{say: func(_ context.Context, yield func(model.Delta, error) bool) {
		for _, w := range words {
			if !yield(model.Delta{Text: w}, nil) {
				return
			}
			time.Sleep(time.Second)
		}
		yield(model.Delta{}, &model.Error{Code: model.CodeEnded, Provider: "scripted", Retryable: true})
	}}
}

// slowly lets words come so slowly that readers have the first of them before the
// last comes.
func slowly(r modeltest.Reply) modeltest.Reply {
	r.TokenDelay = 5 * time.Millisecond
	return r
}

// speaks returns a model that streams n words, one each interval, and completes an
// interval after the last.
func speaks(n int, interval time.Duration) scripted {
	return scripted{say: func(_ context.Context, yield func(model.Delta, error) bool) {
		for i := range n {
			yield(model.Delta{Text: fmt.Sprintf("word%d ", i+1)}, nil)
			time.Sleep(interval)
		}
		yield(done(), nil)
	}}
}

// inBubble runs a test of model calls in a synctest bubble, with the contexts of n
// attempts. Its fixture has blobs in memory, and neither a store nor a model server,
// because files and sockets do not follow the bubble's clock.
func inBubble(t *testing.T, n int, test func(f *fixture, contexts []context.Context)) {
	t.Helper()
	contexts := activitytest.Attempts(t, n)
	synctest.Test(t, func(t *testing.T) {
		f := &fixture{&activitytest.Fixture{T: t, Ctx: t.Context(), Workflows: &activitytest.Workflows{}, Hub: stream.NewHub()}}
		blobs, err := blob.Open(f.Ctx, "mem://")
		f.Must(err)
		f.Blobs = blobs.WithKeys(nil, nil) // no original has a key
		f.AnsweringUses = answering.Dependencies{
			Blobs: f.Blobs, Workflows: f.Workflows, Hub: f.Hub, Metrics: telemetry.NewMetrics("test"), Log: activitytest.Discard(),
		}
		f.Answering = answering.New(f.AnsweringUses)
		test(f, contexts)
		f.Must(f.Blobs.Close())
	})
}

// wantBatches checks the words of each batch that was published.
func (f *fixture) wantBatches(want ...string) {
	f.Helper()
	var got []string
	for _, b := range f.Workflows.Batches {
		text := ""
		for _, item := range b.Items {
			event, err := stream.DecodeEvent(item.Data)
			f.Must(err)
			text += event.Text
		}
		got = append(got, text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		f.Errorf("batches (-want +got):\n%s", diff)
	}
}

func TestRepeatedModelCall(t *testing.T) {
	t.Parallel()

	t.Run("the same words continue after those that readers have", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.Server.ScriptChat(slowly(modeltest.CutAfter(20)), slowly(modeltest.CutAfter(30)), modeltest.Text(words(40)))
		in := answering.ModelCallInput{RunRef: f.Ask("what?"), Turn: 1}
		for i, ctx := range activitytest.Attempts(t, 3) {
			result, err := f.Answering.CallModel(ctx, in)
			if i < 2 {
				f.FailedWith(err, knowledge.CodeProviderFailed, true)
				continue
			}
			f.Must(err)
			f.WantAnswer(result, words(40), 0)
		}
	})

	t.Run("a repeated activity of an ended process continues after those words too", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.Server.ScriptChat(slowly(modeltest.CutAfter(20)), modeltest.Text(words(40)))
		in := answering.ModelCallInput{RunRef: f.Ask("what?"), Turn: 1}
		first := activitytest.Attempts(t, 1)[0]
		_, err := f.Answering.CallModel(first, in)
		f.FailedWith(err, knowledge.CodeProviderFailed, true)
		in.Before = 6
		result, err := f.Answering.CallModel(first, in)
		f.Must(err)
		f.WantAnswer(result, words(40), 0)
		if result.Attempt != 7 {
			t.Errorf("attempt %d", result.Attempt)
		}
	})

	t.Run("a long answer in small pieces continues, or resets the text", func(t *testing.T) {
		t.Parallel()
		long := strings.Repeat("word ", 12_000) // one batch
		pieces := strings.SplitAfter(long, " ")
		for _, tc := range []struct {
			end    string
			resets int
		}{{"the end", 0}, {"an end", 1}} {
			inBubble(t, 2, func(f *fixture, contexts []context.Context) {
				in := answering.ModelCallInput{RunRef: f.Ask("what?"), Turn: 1}
				f.AnswerWith(func(d *answering.Dependencies) { d.Chat = failsAfter(long + "the ") })
				_, err := f.Answering.CallModel(contexts[0], in)
				f.FailedWith(err, knowledge.CodeProviderFailed, true)
				f.AnswerWith(func(d *answering.Dependencies) { d.Chat = replies(append(slices.Clone(pieces), tc.end)...) })
				result, err := f.Answering.CallModel(contexts[1], in)
				f.Must(err)
				text, resets := activitytest.ReadAnswer(f.T, f.Workflows.Items())
				if text += result.Tail; text != long+tc.end || resets != tc.resets {
					f.Errorf("after %d resets readers have %d bytes that end in %q; want %d, %d, %q", resets, len(text), text[max(0, len(text)-9):], tc.resets, len(long+tc.end), tc.end)
				}
			})
		}
	})

	t.Run("words of the turn before are not words of this turn", func(t *testing.T) {
		t.Parallel()
		inBubble(t, 2, func(f *fixture, contexts []context.Context) {
			before, err := stream.NewEntry(stream.TopicDelta, stream.Event{Turn: 1, Attempt: 1, Text: "let me look"})
			f.Must(err)
			f.Workflows.Logged.Append(before)
			in := answering.ModelCallInput{RunRef: f.Ask("what?"), Turn: 2, Offset: 1}
			f.AnswerWith(func(d *answering.Dependencies) { d.Chat = failsAfter("one ") })
			_, err = f.Answering.CallModel(contexts[0], in)
			f.FailedWith(err, knowledge.CodeProviderFailed, true)
			f.AnswerWith(func(d *answering.Dependencies) { d.Chat = replies("one ", "two") })
			result, err := f.Answering.CallModel(contexts[1], in)
			f.Must(err)
			f.WantAnswer(result, "let me lookone two", 0)
		})
	})
}

func TestRepeatedCallWithOtherWords(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		first  []string
		second scripted
		want   string
		resets int
	}{
		"other words reset the text":       {[]string{"one ", "two "}, replies("three ", "four"), "three four", 1},
		"words that differ later do not":   {[]string{"one "}, replies("o", "ne or ", "another"), "one or another", 0},
		"fewer words than before reset it": {[]string{"one two "}, replies("one ", "t"), "one t", 1},
		"no common word resets it":         {[]string{"one "}, replies("x"), "x", 1},
		"the same words and no more":       {[]string{"one "}, replies("o", "ne", " "), "one ", 0},
		"words of which readers have none": {nil, replies("one ", "two"), "one two", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, 2, func(f *fixture, contexts []context.Context) {
				in := answering.ModelCallInput{RunRef: f.Ask("what?"), Turn: 1}
				f.AnswerWith(func(d *answering.Dependencies) { d.Chat = failsAfter(tc.first...) })
				_, err := f.Answering.CallModel(contexts[0], in)
				f.FailedWith(err, knowledge.CodeProviderFailed, true)
				f.AnswerWith(func(d *answering.Dependencies) { d.Chat = tc.second })
				result, err := f.Answering.CallModel(contexts[1], in)
				f.Must(err)
				f.WantAnswer(result, tc.want, tc.resets)
				if result.Attempt != 2 {
					f.Errorf("attempt %d", result.Attempt)
				}
			})
		})
	}
}

// TestFencing delivers the batches of a replaced attempt late, as a worker that was
// frozen does.
func TestFencing(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]string{
		"before the new attempt publishes":    "start",
		"between two batches of the new one":  "middle",
		"after the last words of the new one": "end",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, 2, func(f *fixture, contexts []context.Context) {
				in := answering.ModelCallInput{RunRef: f.Ask("what?"), Turn: 1}
				f.AnswerWith(func(d *answering.Dependencies) { d.Chat = failsAfter("one ") })
				_, err := f.Answering.CallModel(contexts[0], in)
				f.FailedWith(err, knowledge.CodeProviderFailed, true)
				arrive := func(when string) {
					if when != late {
						return
					}
					synctest.Wait() // what the new attempt published is in the log
					frozen := f.Workflows.Batches[0]
					entry, err := stream.NewEntry(stream.TopicDelta, stream.Event{Turn: 1, Attempt: 1, Text: " two"})
					f.Must(err)
					f.Must(f.Workflows.Publish(f.Ctx, "", stream.Batch{PublisherID: frozen.PublisherID, Sequence: frozen.Sequence + 1, Items: []stream.Entry{entry}}))
				}
				f.AnswerWith(func(d *answering.Dependencies) {
					d.Chat = scripted{say: func(_ context.Context, yield func(model.Delta, error) bool) {
						arrive("start") // the attempt has read what was published
						yield(model.Delta{Text: "one two "}, nil)
						arrive("middle")
						yield(model.Delta{Text: "three"}, nil)
						arrive("end")
						yield(done(), nil)
					}}
				})
				result, err := f.Answering.CallModel(contexts[1], in)
				f.Must(err)
				f.WantAnswer(result, "one two three", 0)
			})
		})
	}
}

// TestFrozenAttempt resumes an attempt in mid answer after the next one has begun, as
// a suspended machine does. Its words must not reach a reader, neither by the log nor
// by the hub.
func TestFrozenAttempt(t *testing.T) {
	t.Parallel()
	inBubble(t, 2, func(f *fixture, contexts []context.Context) {
		const interval = 150 * time.Millisecond // between batches
		in := answering.ModelCallInput{RunRef: f.Ask("what?"), Turn: 1}
		stop := f.Hub.Follow(in.Run)
		defer stop()
		frozen, woken, reported := make(chan struct{}), make(chan struct{}), make(chan struct{})
		f.AnswerWith(func(d *answering.Dependencies) {
			d.Chat = scripted{say: func(_ context.Context, yield func(model.Delta, error) bool) {
				yield(model.Delta{Text: "one"}, nil)
				time.Sleep(2 * interval)
				yield(model.Delta{Text: " two"}, nil)
				time.Sleep(2 * interval) // both are in the log
				close(frozen)
				<-woken
				yield(model.Delta{Text: " three"}, nil)
				yield(model.Delta{}, &model.Error{Code: model.CodeEnded, Retryable: true})
			}}
		})
		old := f.Answering
		go func() {
			defer close(reported)
			_, err := old.CallModel(contexts[0], in)
			f.FailedWith(err, knowledge.CodeProviderFailed, true)
		}()
		<-frozen
		f.AnswerWith(func(d *answering.Dependencies) {
			d.Chat = scripted{say: func(_ context.Context, yield func(model.Delta, error) bool) {
				close(woken)
				<-reported
				for _, word := range []string{"one", " two", " three", " four"} {
					yield(model.Delta{Text: word}, nil)
					time.Sleep(2 * interval)
				}
				yield(done(), nil)
			}}
		})
		result, err := f.Answering.CallModel(contexts[1], in)
		f.Must(err)
		f.WantAnswer(result, "one two three four", 0)
		// The first empty one shuts the frozen attempt out, and the second one has its failure.
		f.wantBatches("one", " two", "", " three", "", " three", " four")
		given, _, _, _ := f.Hub.Since(in.Run, 0)
		if diff := cmp.Diff(f.Workflows.Items()[:len(given)], given); diff != "" {
			f.Errorf("the hub has items that the log does not have (-log +hub): %s", diff)
		}
	})
}

func TestPublishingOfTheEnd(t *testing.T) {
	t.Parallel()

	calls := scripted{say: func(_ context.Context, yield func(model.Delta, error) bool) {
		yield(model.Delta{Text: "I search. "}, nil)
		end := done()
		end.Done.ToolCalls = []model.ToolCall{{ID: "1", Name: "documents_rag", Arguments: "{}"}}
		yield(end, nil)
	}}
	for name, tc := range map[string]struct {
		chat       scripted
		publishing bool
	}{
		"the end after an answer does":                     {replies("one ", "two"), true},
		"items after tool calls do not go through the hub": {calls, false},
		"items after a failed call do not either":          {failsAfter("one ", "two"), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, 1, func(f *fixture, contexts []context.Context) {
				f.AnswerWith(func(d *answering.Dependencies) { d.Chat = tc.chat })
				f.Workflows.Completed = new([]any)
				run := f.Ask("what?")
				defer f.Hub.Follow(run.Run)()
				// Other tests check the result.
				_, _ = f.Answering.CallModel(contexts[0], answering.ModelCallInput{RunRef: run, Turn: 1})
				if publishing := f.Hub.Publishing(run.Run); publishing != tc.publishing {
					f.Errorf("readers wait for the hub: %t, want %t", publishing, tc.publishing)
				}
			})
		})
	}

	for name, tc := range map[string]struct {
		attempt  int
		reported *[]any // nil = Temporal cannot be told
		err      error
		shown    string
	}{
		"of many answers one that comes at once needs no signal":            {1, new([]any), activity.ErrResultPending, "one two"},
		"the worker reports a result that the activity could not":           {1, nil, nil, ""},
		"the worker reports the result of a repeated call, which may reset": {2, new([]any), nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, 2, func(f *fixture, contexts []context.Context) {
				f.AnswerWith(func(d *answering.Dependencies) { d.Chat = replies("one ", "two") })
				f.Workflows.Completed = tc.reported
				run := f.Ask("what?")
				for _, asked := range []string{run.Run, "2", "3", "4"} { // many questions at the same time
					defer f.Hub.Follow(asked)()
				}
				result, err := f.Answering.CallModel(contexts[tc.attempt-1], answering.ModelCallInput{RunRef: run, Turn: 1, Offset: 3})
				if !errors.Is(err, tc.err) {
					f.Errorf("error %v, want %v", err, tc.err)
				}
				if result.Tail != "one two" || (tc.err != nil) != (tc.reported != nil && len(*tc.reported) == 1) {
					f.Errorf("the result is %+v, reported %v", result, tc.reported)
				}
				items, _, _, _ := f.Hub.Since(run.Run, 3)
				if text, _ := activitytest.ReadAnswer(f.T, items); text != tc.shown {
					f.Errorf("readers have %q, want %q", text, tc.shown)
				}
				if tc.attempt == 1 {
					f.wantBatches()
				}
			})
		})
	}
}

func TestPublishing(t *testing.T) {
	t.Parallel()

	t.Run("the hub has the items of the log, without a gap", func(t *testing.T) {
		t.Parallel()
		inBubble(t, 1, func(f *fixture, contexts []context.Context) {
			f.AnswerWith(func(d *answering.Dependencies) { d.Chat = speaks(8, 60*time.Millisecond) })
			run := f.Ask("what?")
			started, err := stream.NewEntry(stream.TopicStarted, stream.Event{})
			f.Must(err)
			f.Workflows.Logged.Append(started)
			stop := f.Hub.Follow(run.Run)
			defer stop()
			result, err := f.Answering.CallModel(contexts[0], answering.ModelCallInput{RunRef: run, Turn: 1, Offset: 1, Preceding: f.Workflows.Items()})
			f.Must(err)
			f.WantAnswer(result, words(8)+" ", 0)
			given, _, gap, _ := f.Hub.Since(run.Run, 0)
			if diff := cmp.Diff(f.Workflows.Items(), given); diff != "" || gap {
				f.Errorf("gap %t (-log +hub): %s", gap, diff)
			}
			f.wantBatches("word1", " word2 word3 word4", " word5 word6 word7") // at 0, 180 and 360 ms
		})
	})

	t.Run("words before a long pause do not wait for its end", func(t *testing.T) {
		t.Parallel()
		inBubble(t, 1, func(f *fixture, contexts []context.Context) {
			f.Workflows.Before = func(stream.Batch) error {
				time.Sleep(5 * time.Millisecond)
				return nil
			}
			f.AnswerWith(func(d *answering.Dependencies) {
				d.Chat = scripted{say: func(_ context.Context, yield func(model.Delta, error) bool) {
					for _, part := range []struct {
						words []string
						want  string
					}{{[]string{"Hello", " world"}, "Hello world"}, {[]string{",", " again"}, "Hello world, again"}} {
						for _, w := range part.words {
							yield(model.Delta{Text: w}, nil)
							time.Sleep(time.Millisecond)
						}
						time.Sleep(30 * time.Second)
						if text, _ := activitytest.ReadAnswer(f.T, f.Workflows.Items()); text != part.want {
							f.Errorf("after half a minute readers have %q, want %q", text, part.want)
						}
					}
					yield(done(), nil)
				}}
			})
			result, err := f.Answering.CallModel(contexts[0], answering.ModelCallInput{RunRef: f.Ask("what?"), Turn: 1})
			f.Must(err)
			f.WantAnswer(result, "Hello world, again", 0)
			f.wantBatches("Hello", " world", ",", " again")
		})
	})

	t.Run("one batch is in flight, and the next one has the words that came meanwhile", func(t *testing.T) {
		t.Parallel()
		inBubble(t, 1, func(f *fixture, contexts []context.Context) {
			var flying atomic.Int64
			f.Workflows.Before = func(stream.Batch) error {
				if flying.Add(1) > 1 {
					f.Error("two batches are under way")
				}
				time.Sleep(210 * time.Millisecond) // longer than a batch waits for the one before
				flying.Add(-1)
				return nil
			}
			f.AnswerWith(func(d *answering.Dependencies) { d.Chat = speaks(14, 60*time.Millisecond) })
			result, err := f.Answering.CallModel(contexts[0], answering.ModelCallInput{RunRef: f.Ask("what?"), Turn: 1})
			f.Must(err)
			f.WantAnswer(result, words(14)+" ", 0)
			f.wantBatches("word1", " word2 word3 word4 word5", " word6 word7 word8 word9", " word10 word11 word12 word13")
		})
	})
}

func TestFailuresOfPublishing(t *testing.T) {
	t.Parallel()

	t.Run("a batch that cannot be published fails the call, and the answer is kept", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		var failing sync.Once
		f.Workflows.Before = func(stream.Batch) (err error) {
			failing.Do(func() { err = &knowledge.Error{Code: knowledge.CodeUnavailable, Retryable: true, Message: "try again"} })
			return err
		}
		f.Server.ScriptChat(modeltest.Reply{Text: "one two three", TokenDelay: 100 * time.Millisecond})
		in := answering.ModelCallInput{RunRef: f.Ask("what?"), Turn: 1}
		contexts := activitytest.Attempts(t, 2)
		_, err := f.Answering.CallModel(contexts[0], in)
		f.FailedWith(err, knowledge.CodeUnavailable, true)
		result, err := f.Answering.CallModel(contexts[1], in)
		f.Must(err)
		f.WantAnswer(result, "one two three", 0)
		if n := f.Server.Totals().Chats.Asked; n != 1 {
			t.Errorf("the model was asked %d times", n)
		}
	})

	t.Run("a log that cannot be read fails the call before the model is asked", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		f.AnswerWith(func(d *answering.Dependencies) { d.Workflows = unreadable{f.Workflows} })
		_, err := f.Answering.CallModel(activitytest.Attempts(t, 2)[1], answering.ModelCallInput{RunRef: f.Ask("what?"), Turn: 1})
		f.FailedWith(err, knowledge.CodeInternal, true)
		if n := f.Server.Totals().Chats.Asked; n != 0 {
			t.Errorf("the model was asked %d times", n)
		}
	})
}

type unreadable struct{ *activitytest.Workflows }

func (unreadable) Events(context.Context, string, int64) (stream.EventsPage, error) {
	return stream.EventsPage{}, errors.New("no worker answers")
}

// TestLongAnswer streams a word each 50 ms for ten minutes of the bubble's clock. A
// signal is an event of the workflow's history, which Temporal bounds.
func TestLongAnswer(t *testing.T) {
	t.Parallel()
	inBubble(t, 1, func(f *fixture, contexts []context.Context) {
		var sent []time.Duration
		start := time.Now()
		f.Workflows.Before = func(stream.Batch) error {
			sent = append(sent, time.Since(start))
			time.Sleep(5 * time.Millisecond)
			return nil
		}
		const length = 12_000
		f.AnswerWith(func(d *answering.Dependencies) { d.Chat = speaks(length, 50*time.Millisecond) })
		result, err := f.Answering.CallModel(contexts[0], answering.ModelCallInput{RunRef: f.Ask("what?"), Turn: 1})
		f.Must(err)
		f.WantAnswer(result, words(length)+" ", 0)
		if len(sent) > 1000 || len(sent) < 500 {
			f.Errorf("%d signals in ten minutes", len(sent))
		}
		if sent[0] != 0 {
			f.Errorf("the first word waited %v", sent[0])
		}
		for i := 1; i < len(sent); i++ {
			if wait := sent[i] - sent[i-1]; wait < 100*time.Millisecond || wait > 1100*time.Millisecond {
				f.Fatalf("batch %d came %v after the one before", i, wait)
			}
		}
		if early := sent[50] - sent[0]; early > 50*200*time.Millisecond {
			f.Errorf("the first fifty batches took %v: that is no streaming", early)
		}
	})
}

func TestManyWordsAtOnce(t *testing.T) {
	t.Parallel()
	inBubble(t, 1, func(f *fixture, contexts []context.Context) {
		f.Workflows.Before = func(b stream.Batch) error {
			for _, item := range b.Items {
				if len(item.Data) > 1<<20 {
					f.Errorf("an item of %d bytes", len(item.Data))
				}
			}
			return nil
		}
		text := strings.Repeat("<é", 300_000)
		f.AnswerWith(func(d *answering.Dependencies) { d.Chat = replies(text) })
		result, err := f.Answering.CallModel(contexts[0], answering.ModelCallInput{RunRef: f.Ask("what?"), Turn: 1})
		f.Must(err)
		f.WantAnswer(result, text, 0)
		if len(result.Tail) > 64<<10 {
			f.Errorf("a tail of %d bytes", len(result.Tail))
		}
	})
}

func TestEndlessAnswer(t *testing.T) {
	t.Parallel()
	inBubble(t, 1, func(f *fixture, contexts []context.Context) {
		f.AnswerWith(func(d *answering.Dependencies) { d.Chat = replies(strings.Repeat("word ", 1<<20)) })
		_, err := f.Answering.CallModel(contexts[0], answering.ModelCallInput{RunRef: f.Ask("what?"), Turn: 1})
		f.FailedWith(err, knowledge.CodeProviderFailed, false)
	})
}

// TestLongRetryAfter lets an endpoint ask for a pause that is too long for the reader
// of an answer.
func TestLongRetryAfter(t *testing.T) {
	t.Parallel()
	for wait, retryable := range map[time.Duration]bool{30 * time.Second: true, 24 * time.Hour: false} {
		t.Run(wait.String(), func(t *testing.T) {
			t.Parallel()
			inBubble(t, 1, func(f *fixture, contexts []context.Context) {
				f.AnswerWith(func(d *answering.Dependencies) {
					d.Chat = scripted{say: func(_ context.Context, yield func(model.Delta, error) bool) {
						yield(model.Delta{}, &model.Error{Code: model.CodeRateLimited, Retryable: true, RetryAfter: wait})
					}}
				})
				_, err := f.Answering.CallModel(contexts[0], answering.ModelCallInput{RunRef: f.Ask("what?"), Turn: 1})
				f.FailedWith(err, knowledge.CodeRateLimited, retryable)
			})
		})
	}
}
