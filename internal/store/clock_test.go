package store_test

import (
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/store"
)

// TestAClockThatWasAhead writes with a clock that is an hour ahead, and then with one that
// is right: nothing waits for the hour to pass.
func TestAClockThatWasAhead(t *testing.T) {
	t.Parallel()
	ctx, url := t.Context(), "sqlite://"+t.TempDir()+"/cairn.db"
	open := func(ahead time.Duration) *store.Store {
		s, err := store.Open(ctx, store.Config{URL: url, Clock: func() time.Time { return time.Now().Add(ahead) }})
		must(t, err)
		t.Cleanup(func() { must(t, s.Close()) })
		return s
	}
	wrong, right := open(time.Hour), open(0)
	later := newVersion("a")
	later.Now = time.Now().Add(time.Hour)
	_, _, err := wrong.AddVersion(ctx, later)
	must(t, err)

	t.Run("what_it_left_is_listed", func(t *testing.T) {
		versions, err := right.PendingVersions(ctx, store.PendingQuery{Limit: 10})
		must(t, err)
		runs, err := right.RunningRuns(ctx, store.RunningQuery{Limit: 10})
		must(t, err)
		if len(versions) != 1 || len(runs) != 1 {
			t.Errorf("%d versions, %d runs", len(versions), len(runs))
		}
	})
	t.Run("its_lease_of_the_index_is_taken_over", func(t *testing.T) {
		v, _ := publish(t, wrong, "b", "text", 1)
		class := "secret"
		_, err := wrong.UpdateDocument(ctx, manager(), v.Document, store.DocumentPatch{Classification: &class})
		must(t, err)
		for _, s := range []*store.Store{wrong, right} {
			if _, leased, err := s.LeaseStale(ctx, v.Document); err != nil || !leased {
				t.Errorf("leased %t, %v", leased, err)
			}
		}
	})
	t.Run("its_daily_turn_does_not_count", func(t *testing.T) {
		for _, s := range []*store.Store{wrong, right} {
			if turn, err := s.DailyTurn(ctx, "walk"); err != nil || !turn {
				t.Errorf("turn %t, %v", turn, err)
			}
		}
	})
}
