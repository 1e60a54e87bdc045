package storetest

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/store"
)

func testRates(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"a_limit_is_given_once_and_comes_back_over_a_minute": rateOverTime,
		"of_takers_at_once_no_two_get_the_same_token":        rateAtOnce,
		"limits_do_not_meet":                                 ratesApart,
	})
}

// take takes tokens of a limit of 12 a minute, some seconds after start.
func (f *fixture) take(name string, tokens int, start time.Time, seconds int) (taken int, wait time.Duration) {
	f.Helper()
	at := start.Add(time.Duration(seconds) * time.Second)
	got, err := f.TakeTokens(f.ctx, store.TokenRequest{Name: name, PerMinute: 12, Tokens: tokens, Now: at})
	f.must(err)
	return got.Taken, got.Wait
}

func rateOverTime(f *fixture) {
	start := time.Now().Truncate(time.Second)
	for i, step := range []struct {
		seconds, tokens, taken int
		wait                   time.Duration
	}{
		{0, 5, 5, 0}, {0, 5, 5, 0}, {0, 5, 2, 0}, {0, 5, 0, 5 * time.Second}, {3, 1, 0, 2 * time.Second},
		{5, 5, 1, 0}, {20, 5, 3, 0}, {20, 1, 0, 5 * time.Second}, {1000, 50, 12, 0},
		{900, 1, 0, 105 * time.Second}, // a process whose clock is behind
	} {
		if taken, wait := f.take("a", step.tokens, start, step.seconds); taken != step.taken || wait != step.wait {
			f.Errorf("step %d: %d tokens, wait %v; want %d, %v", i, taken, wait, step.taken, step.wait)
		}
	}
	for _, want := range []int{0, 12} { // the clock was ahead by an hour when the limit was used up
		if taken, _ := f.take("a", 12, start, 1000-want*300); taken != want {
			f.Errorf("%d tokens, want %d", taken, want)
		}
	}
}

func rateAtOnce(f *fixture) {
	var taken atomic.Int64
	var wg sync.WaitGroup
	start := time.Now()
	for range 8 {
		wg.Go(func() {
			got, err := f.TakeTokens(f.ctx, store.TokenRequest{Name: "a", PerMinute: 12, Tokens: 5, Now: start})
			if err != nil {
				f.Error(err)
			}
			taken.Add(int64(got.Taken))
		})
	}
	wg.Wait()
	if taken.Load() != 12 {
		f.Errorf("%d tokens of 12 were taken", taken.Load())
	}
}

func ratesApart(f *fixture) {
	start := time.Now()
	for _, name := range []string{"a", "A", "a\nb", ""} {
		if taken, _ := f.take(name, 12, start, 0); taken != 12 {
			f.Errorf("%q has %d tokens", name, taken)
		}
	}
	f.take("other", 1, start, 2*3600) // deletes the idle ones
	if taken, _ := f.take("a", 20, start, 2*3600); taken != 12 {
		f.Errorf("after two hours it has %d tokens", taken)
	}
}
