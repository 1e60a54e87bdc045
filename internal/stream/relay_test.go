package stream_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/stream"
)

// source is a log that the test appends to.
type source struct {
	mu      sync.Mutex
	items   []stream.Item
	stored  bool
	err     error
	queries int
	hang    bool // a query blocks until its context ends
	flaky   bool // every second query fails
	settled func(s *source)
}

func (s *source) Stored(context.Context, stream.RunRef) ([]stream.Item, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.stored {
		return nil, false, nil
	}
	return s.items, true, nil
}

func (s *source) Query(ctx context.Context, _ stream.RunRef, from int64) (stream.EventsPage, error) {
	if s.hang {
		<-ctx.Done()
		return stream.EventsPage{}, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.queries++
	if s.err != nil {
		return stream.EventsPage{}, s.err
	}
	if s.flaky && s.queries%2 == 0 {
		return stream.EventsPage{}, errors.New("no worker answers")
	}
	page := stream.EventsPage{Page: stream.Page{Items: []stream.Item{}, NextOffset: int64(len(s.items))}}
	for _, item := range s.items {
		if item.Offset >= from {
			page.Items = append(page.Items, item)
		}
	}
	return page, nil
}

func (s *source) Settle(context.Context, stream.RunRef) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.settled != nil {
		s.settled(s)
	}
	return nil
}

func (s *source) add(t *testing.T, topic, text string) stream.Item {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := stream.NewEntry(topic, stream.Event{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	item := stream.Item{Topic: e.Topic, Data: e.Data, Offset: int64(len(s.items))}
	s.items = append(s.items, item)
	return item
}

func collect(t *testing.T, r *stream.Relay, from int64) []string {
	t.Helper()
	var items []stream.Item
	for item, err := range r.Items(t.Context(), stream.RunRef{Run: "run"}, from) {
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, item)
	}
	return texts(t, items)
}

func TestRelay(t *testing.T) {
	t.Parallel()

	t.Run("the log is read once for many readers of a run", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s := &source{}
			s.add(t, stream.TopicStarted, "a")
			relay := stream.NewRelay(s, stream.NewHub())
			var readers sync.WaitGroup
			got := make([][]string, 50)
			for i := range got {
				readers.Go(func() { got[i] = collect(t, relay, 0) })
			}
			time.Sleep(time.Second)
			s.add(t, stream.TopicDelta, "b")
			time.Sleep(time.Second)
			s.add(t, stream.TopicCompleted, "c")
			readers.Wait()
			for i := range got {
				if diff := cmp.Diff([]string{"a", "b", "c"}, got[i]); diff != "" {
					t.Fatalf("reader %d: %s", i, diff)
				}
			}
			if s.queries > 20 {
				t.Errorf("%d queries for 50 readers in 2 s", s.queries)
			}
		})
	})

	t.Run("occasional failures of queries end no stream, however long the run is", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s := &source{flaky: true}
			s.add(t, stream.TopicStarted, "a")
			relay := stream.NewRelay(s, stream.NewHub())
			go func() {
				time.Sleep(time.Hour)
				s.add(t, stream.TopicCompleted, "b")
			}()
			if diff := cmp.Diff([]string{"a", "b"}, collect(t, relay, 0)); diff != "" {
				t.Error(diff)
			}
		})
	})

	t.Run("an ended run is read from the store", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s := &source{stored: true, err: errors.New("the workflow is gone")}
			s.add(t, stream.TopicStarted, "a")
			s.add(t, stream.TopicCompleted, "b")
			relay := stream.NewRelay(s, stream.NewHub())
			if diff := cmp.Diff([]string{"b"}, collect(t, relay, 1)); diff != "" {
				t.Error(diff)
			}
		})
	})

	t.Run("readers of a run that was ended from outside read its end", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s := &source{err: errors.New("the workflow was terminated")}
			s.add(t, stream.TopicStarted, "a")
			s.settled = func(s *source) {
				if !s.stored {
					e, _ := stream.NewEntry(stream.TopicError, stream.Event{Text: "ended"})
					s.items = append(s.items, stream.Item{Topic: e.Topic, Data: e.Data, Offset: 1})
					s.stored = true
				}
			}
			relay := stream.NewRelay(s, stream.NewHub())
			if diff := cmp.Diff([]string{"a", "ended"}, collect(t, relay, 0)); diff != "" {
				t.Error(diff)
			}
		})
	})
}

func TestRelayFromTheHub(t *testing.T) {
	t.Parallel()

	t.Run("items in the hub are read at once, without a query", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s, hub := &source{}, stream.NewHub()
			relay := stream.NewRelay(s, hub)
			stop := relay.Prime(stream.RunRef{Run: "run"}, []stream.Item{s.add(t, stream.TopicStarted, "a")}, true)
			defer stop()
			start := time.Now()
			hub.Append("run", []stream.Item{s.add(t, stream.TopicDelta, "b")})
			hub.Finish("run", []stream.Item{s.add(t, stream.TopicCompleted, "c")})
			if diff := cmp.Diff([]string{"a", "b", "c"}, collect(t, relay, 0)); diff != "" {
				t.Error(diff)
			}
			if s.queries != 0 || time.Since(start) != 0 {
				t.Errorf("%d queries, %v", s.queries, time.Since(start))
			}
		})
	})

	t.Run("events before the first words are read soon", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s := &source{}
			relay := stream.NewRelay(s, stream.NewHub())
			stop := relay.Prime(stream.RunRef{Run: "run"}, []stream.Item{s.add(t, stream.TopicStarted, "a")}, false)
			defer stop()
			s.add(t, stream.TopicToolUpdate, "b")
			start := time.Now()
			for item, err := range relay.Items(t.Context(), stream.RunRef{Run: "run"}, 1) {
				if err != nil || item.Topic != stream.TopicToolUpdate {
					t.Errorf("%+v, %v", item, err)
				}
				break
			}
			if took := time.Since(start); took > 100*time.Millisecond {
				t.Errorf("the event was read after %v", took)
			}
		})
	})

	t.Run("a gap in the hub is filled by a query", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s, hub := &source{}, stream.NewHub()
			relay := stream.NewRelay(s, hub)
			stop := relay.Prime(stream.RunRef{Run: "run"}, []stream.Item{s.add(t, stream.TopicStarted, "a")}, true)
			defer stop()
			s.add(t, stream.TopicToolCall, "b")
			hub.Append("run", []stream.Item{s.add(t, stream.TopicDelta, "c")})
			s.add(t, stream.TopicCompleted, "d")
			if diff := cmp.Diff([]string{"a", "b", "c", "d"}, collect(t, relay, 0)); diff != "" {
				t.Error(diff)
			}
		})
	})

	t.Run("a query without an answer does not delay items in the hub", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s, hub := &source{hang: true}, stream.NewHub()
			relay := stream.NewRelay(s, hub)
			stop := relay.Prime(stream.RunRef{Run: "run"}, []stream.Item{s.add(t, stream.TopicStarted, "a")}, true)
			defer stop()
			time.Sleep(time.Minute) // long enough for a query to be under way
			hub.Append("run", []stream.Item{s.add(t, stream.TopicDelta, "b"), s.add(t, stream.TopicCompleted, "c")})
			start := time.Now()
			if diff := cmp.Diff([]string{"a", "b", "c"}, collect(t, relay, 0)); diff != "" {
				t.Error(diff)
			}
			if took := time.Since(start); took > 0 {
				t.Errorf("the items were read after %v", took)
			}
		})
	})
}

func TestRelayWithoutAHub(t *testing.T) {
	t.Parallel()

	for name, stop := range map[string]func(*stream.Hub){
		"the publisher has ended":         func(h *stream.Hub) { h.Pause("run") },
		"a newer attempt has replaced it": func(h *stream.Hub) { h.Fence("run", 1, 2) },
	} {
		t.Run("items that are only in the log are read soon after "+name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s, hub := &source{}, stream.NewHub()
				relay := stream.NewRelay(s, hub)
				defer relay.Prime(stream.RunRef{Run: "run"}, []stream.Item{s.add(t, stream.TopicStarted, "a")}, true)()
				hub.Append("run", []stream.Item{s.add(t, stream.TopicDelta, "b")})
				var readAt time.Time
				var reader sync.WaitGroup
				reader.Go(func() {
					for item, err := range relay.Items(t.Context(), stream.RunRef{Run: "run"}, 0) {
						if err != nil {
							t.Error(err)
						}
						if item.Topic == stream.TopicToolCall {
							readAt = time.Now()
						}
					}
				})
				time.Sleep(10*time.Second + 100*time.Millisecond) // just after one of the rare queries
				stop(hub)
				time.Sleep(time.Millisecond)
				appended := time.Now()
				s.add(t, stream.TopicToolCall, "c")
				time.Sleep(10 * time.Second)
				s.add(t, stream.TopicCompleted, "d")
				reader.Wait()
				if late := readAt.Sub(appended); late > 100*time.Millisecond {
					t.Errorf("the item was read %v after it was appended", late)
				}
			})
		})
	}

	t.Run("without a hub, words are read at most a tenth later than they were awaited, and 50 ms", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s := &source{}
			relay := stream.NewRelayWithoutHub(s)
			first := s.add(t, stream.TopicStarted, "a")
			stop := relay.Prime(stream.RunRef{Run: "run"}, []stream.Item{first}, true)
			defer stop()
			for _, silence := range []time.Duration{20 * time.Millisecond, 700 * time.Millisecond, 3 * time.Second, time.Minute} {
				before := s.queries
				time.Sleep(silence)
				polls := s.queries - before
				s.add(t, stream.TopicDelta, "b")
				begin, from := time.Now(), int64(len(s.items)-1)
				for range relay.Items(t.Context(), stream.RunRef{Run: "run"}, from) {
					break
				}
				if late, limit := time.Since(begin), 51*time.Millisecond+min(silence/10, 450*time.Millisecond); late > limit {
					t.Errorf("after %v of silence the word came %v late", silence, late)
				}
				if polls > 170 {
					t.Errorf("%d queries in %v of silence", polls, silence)
				}
			}
		})
	})
}

func TestReadersOfARelay(t *testing.T) {
	t.Parallel()

	t.Run("a slow reader delays no other", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s := &source{}
			for range 100 {
				s.add(t, stream.TopicDelta, "x")
			}
			s.add(t, stream.TopicCompleted, "end")
			relay := stream.NewRelay(s, stream.NewHub())
			var slow sync.WaitGroup
			slow.Go(func() {
				for range relay.Items(t.Context(), stream.RunRef{Run: "run"}, 0) {
					time.Sleep(time.Second)
				}
			})
			start := time.Now()
			if got := collect(t, relay, 0); len(got) != 101 {
				t.Errorf("%d items", len(got))
			}
			if took := time.Since(start); took > time.Second {
				t.Errorf("the quick reader took %v", took)
			}
			slow.Wait()
		})
	})

	t.Run("the follower ends when its last reader leaves", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			s := &source{}
			s.add(t, stream.TopicStarted, "a")
			relay := stream.NewRelay(s, stream.NewHub())
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			for _, err := range relay.Items(ctx, stream.RunRef{Run: "run"}, 0) {
				if err != nil && !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
			}
			// synctest fails if the follower's goroutine is left behind.
		})
	})
}
