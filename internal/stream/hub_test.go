package stream_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/stream"
)

func TestHubFence(t *testing.T) {
	t.Parallel()
	hub := stream.NewHub()
	hub.Fence("run", 1, 2) // no reader: nothing is kept
	stop := hub.Follow("run")
	defer stop()
	give := func(offset int64, turn, attempt int, text string) {
		e := delta(t, turn, attempt, text)
		hub.Append("run", []stream.Item{{Topic: e.Topic, Data: e.Data, Offset: offset}})
	}
	give(0, 1, 1, "first ")
	hub.Fence("run", 1, 2)
	hub.Fence("run", 1, 1) // late
	give(1, 1, 1, "given up ")
	give(1, 1, 2, "second ")
	give(2, 2, 1, "next turn")
	items, _, _, _ := hub.Since("run", 0)
	if diff := cmp.Diff([]string{"first ", "second ", "next turn"}, texts(t, items)); diff != "" {
		t.Error(diff)
	}
}
