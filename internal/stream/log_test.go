package stream_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/stream"
)

func delta(t *testing.T, turn, attempt int, text string) stream.Entry {
	t.Helper()
	e, err := stream.NewEntry(stream.TopicDelta, stream.Event{Turn: turn, Attempt: attempt, Text: text})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func texts(t *testing.T, items []stream.Item) []string {
	t.Helper()
	out := []string{}
	for _, item := range items {
		e, err := stream.DecodeEvent(item.Data)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, e.Text)
	}
	return out
}

func TestLog(t *testing.T) {
	t.Parallel()

	t.Run("a repeated batch is dropped", func(t *testing.T) {
		t.Parallel()
		var l stream.Log
		batch := stream.Batch{Items: []stream.Entry{delta(t, 1, 1, "a")}, PublisherID: "p", Sequence: 1}
		l.Publish(batch)
		l.Publish(batch)
		l.Publish(stream.Batch{Items: []stream.Entry{delta(t, 1, 1, "b")}, PublisherID: "p", Sequence: 2})
		if diff := cmp.Diff([]string{"a", "b"}, texts(t, l.Items(0))); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("an empty publisher id means no deduplication", func(t *testing.T) {
		t.Parallel()
		var l stream.Log
		for range 2 {
			l.Publish(stream.Batch{Items: []stream.Entry{delta(t, 0, 0, "a")}})
		}
		if diff := cmp.Diff([]string{"a", "a"}, texts(t, l.Items(0))); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("a replaced attempt cannot write between the words of its successor", func(t *testing.T) {
		t.Parallel()
		var l stream.Log
		l.Publish(stream.Batch{Items: []stream.Entry{delta(t, 1, 1, "old ")}, PublisherID: "one", Sequence: 1})
		l.Publish(stream.Batch{Items: []stream.Entry{delta(t, 1, 2, "new ")}, PublisherID: "two", Sequence: 1})
		l.Publish(stream.Batch{Items: []stream.Entry{delta(t, 1, 1, "stalled")}, PublisherID: "one", Sequence: 2})
		l.Publish(stream.Batch{Items: []stream.Entry{delta(t, 2, 1, "next turn")}, PublisherID: "three", Sequence: 1})
		if diff := cmp.Diff([]string{"old ", "new ", "next turn"}, texts(t, l.Items(0))); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("a delta without words fences earlier attempts and is not kept", func(t *testing.T) {
		t.Parallel()
		var l stream.Log
		l.Publish(stream.Batch{Items: []stream.Entry{delta(t, 1, 1, "old ")}, PublisherID: "one", Sequence: 1})
		l.Publish(stream.Batch{Items: []stream.Entry{delta(t, 1, 2, "")}, PublisherID: "two", Sequence: 1})
		l.Publish(stream.Batch{Items: []stream.Entry{delta(t, 1, 1, "late ")}, PublisherID: "one", Sequence: 2})
		l.Publish(stream.Batch{Items: []stream.Entry{delta(t, 1, 2, "new")}, PublisherID: "two", Sequence: 2})
		if diff := cmp.Diff([]string{"old ", "new"}, texts(t, l.Items(0))); diff != "" {
			t.Error(diff)
		}
	})

	t.Run("offsets continue after a carry", func(t *testing.T) {
		t.Parallel()
		var l stream.Log
		for range 10 {
			l.Append(delta(t, 0, 0, "x"))
		}
		next := l.Carry(3)
		next.Append(delta(t, 0, 0, "y"))
		page := next.Page(7, nil)
		if got := []int64{page.Items[0].Offset, page.NextOffset, next.Base}; !cmp.Equal(got, []int64{7, 11, 7}) {
			t.Errorf("first, next, base = %v", got)
		}
		if !next.Truncated(6) || next.Truncated(7) || next.Truncated(0) {
			t.Error("only offsets below the base, and not 0, are truncated")
		}
	})

	t.Run("a carry keeps fewer entries if they are large", func(t *testing.T) {
		t.Parallel()
		var l stream.Log
		for range 10 {
			l.Append(stream.Entry{Topic: "delta", Data: strings.Repeat("x", 60_000)})
		}
		if next := l.Carry(200); len(next.Entries) != 4 || next.Base != 6 || next.End() != 10 {
			t.Errorf("it carries %d from %d to %d", len(next.Entries), next.Base, next.End())
		}
	})

	t.Run("a page ends at a megabyte and reports that there is more", func(t *testing.T) {
		t.Parallel()
		var l stream.Log
		for range 5 {
			l.Append(stream.Entry{Topic: "delta", Data: strings.Repeat("x", 400_000)})
		}
		page := l.Page(0, nil)
		if len(page.Items) != 2 || !page.MoreReady || page.NextOffset != 2 {
			t.Errorf("%d items, more %v, next %d", len(page.Items), page.MoreReady, page.NextOffset)
		}
	})

	t.Run("a page never has a null list", func(t *testing.T) {
		t.Parallel()
		var l stream.Log
		if page := l.Page(0, nil); page.Items == nil {
			t.Error("items is null")
		}
	})
}

func TestEntryIsAJSONPayload(t *testing.T) {
	t.Parallel()
	e, err := stream.NewEntry("delta", stream.Event{Text: "hello"})
	if err != nil {
		t.Fatal(err)
	}
	// A Payload with encoding json/plain and the data {"text":"hello"}.
	const want = "ChYKCGVuY29kaW5nEgpqc29uL3BsYWluEhB7InRleHQiOiJoZWxsbyJ9"
	if e.Data != want {
		t.Errorf("data %s, want %s", e.Data, want)
	}
}
