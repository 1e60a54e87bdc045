package following_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/following"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/source/throttle"
	"github.com/cairn-rag/cairn/internal/store"
)

// gates keeps the gates at which the places of connections are opened.
type gates struct {
	following.Places
	of map[string]*throttle.Gate
}

func (g gates) Follow(f source.Follow, gate *throttle.Gate) (source.Source, error) {
	g.of[f.Connection] = gate
	return nil, nil
}

// TestSyncsOfAConnectionWaitTogether has a service ask one sync for fewer requests: the other sync
// of its connection waits too, in this process and in another one, and that of another connection
// does not.
func TestSyncsOfAConnectionWaitTogether(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	_, err := f.store.AddConnection(t.Context(), manager(), store.Connection{ID: "d", Type: source.TypeCrawl})
	f.must(err)
	f.add("one")
	f.add("two")
	_, err = f.store.AddSync(t.Context(), manager(), store.Sync{ID: "elsewhere", Project: "p", Connection: "d", Every: time.Hour})
	f.must(err)
	process := func() (open func(sync string) *throttle.Gate) {
		opened := gates{f.service, map[string]*throttle.Gate{}}
		r := following.NewRunner(following.RunnerDeps{
			Store: f.store, Blobs: f.blobs, Places: opened, Workflows: f.work, Log: slog.New(slog.DiscardHandler), Now: time.Now,
		})
		return func(sync string) *throttle.Gate {
			t.Helper()
			i, err := r.Start(t.Context(), "w", sync, sync)
			f.must(err)
			_, err = r.Open(t.Context(), i, nil, nil)
			f.must(err)
			y, err := f.store.SyncForSystem(t.Context(), "w", sync)
			f.must(err)
			return opened.of[y.Connection]
		}
	}
	here, there := process(), process()
	one, two, elsewhere := here("one"), here("two"), here("elsewhere")
	one.Slow(time.Hour)
	for name, gate := range map[string]*throttle.Gate{"the other sync": two, "it in another process": there("one"), "the other sync in another process": there("two")} {
		if left := time.Until(gate.Until()); left < 50*time.Minute {
			t.Errorf("%s waits for %v", name, left)
		}
	}
	if left := time.Until(elsewhere.Until()); left > 0 {
		t.Errorf("the sync of another connection waits for %v", left)
	}
}
