package model_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-rag/cairn/internal/model"
)

// held returns how long a caller without patience has to wait.
func held(t *testing.T, p *model.Pacer, tokens int, turn model.Turn) time.Duration {
	t.Helper()
	wait, ok, err := p.Await(t.Context(), tokens, turn)
	if err != nil || ok != (wait == 0) {
		t.Errorf("wait %v, ok %t, %v", wait, ok, err)
	}
	return wait
}

func TestPacer(t *testing.T) {
	t.Parallel()
	limited := func(p *model.Pacer, headers ...string) { p.Observe(time.Now(), http.StatusTooManyRequests, headers...) }
	in := func(name string, test func(t *testing.T, p *model.Pacer)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { test(t, &model.Pacer{}) })
		})
	}

	in("an endpoint that refuses nothing is not paced", func(t *testing.T, p *model.Pacer) {
		for range 1000 {
			if wait := held(t, p, 1000, model.Turn{}); wait != 0 {
				t.Fatalf("wait %v", wait)
			}
			p.Observe(time.Now(), http.StatusOK)
		}
	})

	in("a pause holds everybody, and those who wait come back one after the other", func(t *testing.T, p *model.Pacer) {
		time.Sleep(time.Second)
		limited(p, "Retry-After", "60")
		last := time.Duration(0)
		for range 100 {
			wait := held(t, p, 10, model.Turn{})
			if wait < time.Minute || wait <= last {
				t.Fatalf("wait %v after one of %v", wait, last)
			}
			last = wait
		}
		time.Sleep(61 * time.Second)
		if wait := held(t, p, 10, model.Turn{Waited: true}); wait != 0 {
			t.Errorf("who has waited waits %v more", wait)
		}
	})

	in("a caller with patience waits and is let through", func(t *testing.T, p *model.Pacer) {
		time.Sleep(time.Second)
		limited(p, "Retry-After-Ms", "1500")
		began := time.Now()
		wait, ok, err := p.Await(t.Context(), 1, model.Turn{Patience: 2 * time.Second})
		if took := time.Since(began); wait != 0 || !ok || err != nil || took < 1500*time.Millisecond {
			t.Errorf("wait %v, ok %t, %v after %v", wait, ok, err, took)
		}
	})

	in("a pause that is asked for meanwhile counts for who waits", func(t *testing.T, p *model.Pacer) {
		time.Sleep(time.Second)
		limited(p, "Retry-After", "1")
		time.AfterFunc(500*time.Millisecond, func() { limited(p, "Retry-After", "30") })
		if wait, ok, err := p.Await(t.Context(), 1, model.Turn{Patience: 2 * time.Second}); ok || wait < 29*time.Second || err != nil {
			t.Errorf("wait %v, ok %t, %v", wait, ok, err)
		}
	})

	in("a caller that is canceled stops waiting", func(t *testing.T, p *model.Pacer) {
		time.Sleep(time.Second)
		limited(p, "Retry-After", "1")
		why := errors.New("the document was removed")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Millisecond, func() { cancel(why) })
		if _, _, err := p.Await(ctx, 1, model.Turn{Patience: time.Minute}); !errors.Is(err, why) {
			t.Errorf("got %v", err)
		}
	})

	in("an overloaded endpoint may ask for a pause too", func(t *testing.T, p *model.Pacer) {
		p.Observe(time.Now(), http.StatusServiceUnavailable, "Retry-After", "10")
		if wait := held(t, p, 1, model.Turn{}); wait < 10*time.Second {
			t.Errorf("wait %v", wait)
		}
	})

	in("somebody who knows better ends the pause for all", func(t *testing.T, p *model.Pacer) {
		time.Sleep(time.Second)
		limited(p, "Retry-After", "60")
		if wait := held(t, p, 1, model.Turn{Now: true}); wait != 0 {
			t.Errorf("wait %v", wait)
		}
		if wait := held(t, p, 1, model.Turn{Patience: time.Second}); wait != 0 {
			t.Errorf("another one waits %v", wait)
		}
	})
}

// TestPacerFindsTheRate has eight callers send requests to an endpoint that takes ten
// in a second, and no headers say so.
func TestPacerFindsTheRate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p model.Pacer
		var mu sync.Mutex
		var window time.Time
		inWindow, taken, refused := 0, 0, 0
		take := func() bool {
			mu.Lock()
			defer mu.Unlock()
			if second := time.Now().Truncate(time.Second); second != window {
				window, inWindow = second, 0
			}
			if inWindow++; inWindow > 10 {
				refused++
				return false
			}
			taken++
			return true
		}
		const seconds = 120
		end := time.Now().Add(seconds * time.Second)
		var callers sync.WaitGroup
		for range 8 {
			callers.Go(func() {
				waited := false
				for time.Now().Before(end) {
					wait, ok, err := p.Await(t.Context(), 1, model.Turn{Patience: 2 * time.Second, Waited: waited})
					if err != nil {
						t.Error(err)
					}
					if waited = !ok; waited {
						time.Sleep(wait)
						continue
					}
					sent := time.Now()
					time.Sleep(20 * time.Millisecond)
					status := http.StatusOK
					if !take() {
						status = http.StatusTooManyRequests
					}
					p.Observe(sent, status)
				}
			})
		}
		callers.Wait()
		t.Logf("in %d s the endpoint took %d and refused %d", seconds, taken, refused)
		if taken < 5*seconds || refused > taken/10 {
			t.Errorf("in %d s the endpoint took %d of %d and refused %d", seconds, taken, 10*seconds, refused)
		}
	})
}

func TestPacerReadsBudgets(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		headers []string
		tokens  int
		min     time.Duration
		max     time.Duration
	}{
		"enough of both": {[]string{
			"x-ratelimit-limit-requests", "100", "x-ratelimit-remaining-requests", "9", "x-ratelimit-reset-requests", "10s",
			"x-ratelimit-limit-tokens", "1000", "x-ratelimit-remaining-tokens", "500", "x-ratelimit-reset-tokens", "1m0s",
		}, 400, 0, 0},
		"no requests left":      {[]string{"x-ratelimit-limit-requests", "10", "x-ratelimit-remaining-requests", "0", "x-ratelimit-reset-requests", "10s"}, 1, time.Second, time.Second},
		"too few tokens left":   {[]string{"x-ratelimit-limit-tokens", "1000", "x-ratelimit-remaining-tokens", "100", "x-ratelimit-reset-tokens", "90s"}, 400, 30 * time.Second, 30 * time.Second},
		"more than it ever has": {[]string{"x-ratelimit-limit-tokens", "1000", "x-ratelimit-remaining-tokens", "100", "x-ratelimit-reset-tokens", "90s"}, 4000, 90 * time.Second, 90 * time.Second},
		"milliseconds":          {[]string{"x-ratelimit-remaining-tokens", "3", "x-ratelimit-reset-tokens", "120ms"}, 4, 120 * time.Millisecond, 120 * time.Millisecond},
		"seconds":               {[]string{"RateLimit-Limit", "10", "RateLimit-Remaining", "0", "RateLimit-Reset", "12"}, 1, 12 * time.Second, 12 * time.Second},
		"a time":                {[]string{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "946684830"}, 1, 30 * time.Second, 30 * time.Second},
		"a written time":        {[]string{"x-ratelimit-remaining-requests", "0", "x-ratelimit-reset-requests", "2000-01-01T00:00:30Z"}, 1, 30 * time.Second, 30 * time.Second},
		"policies":              {[]string{"RateLimit", `"burst";r=4;t=1, "daily";r=0;t=30`}, 1, 30 * time.Second, 30 * time.Second},
		"the older form":        {[]string{"RateLimit", "limit=10, remaining=0, reset=7"}, 1, 7 * time.Second, 7 * time.Second},
		"policies with a rest":  {[]string{"RateLimit", `"burst";r=4;t=1`}, 1, 0, 0},
		"no time":               {[]string{"x-ratelimit-remaining-tokens", "0"}, 1, 0, 0},
		"below zero":            {[]string{"x-ratelimit-remaining-requests", "-1", "x-ratelimit-reset-requests", "30s"}, 1, 0, 0},
		"nonsense":              {[]string{"RateLimit-Remaining", "none", "RateLimit-Reset", "soon", "RateLimit", ";;=,r=t"}, 1, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { // the clock of a bubble begins in 2000
				var p model.Pacer
				p.Observe(time.Now(), http.StatusOK, tc.headers...)
				if wait := held(t, &p, tc.tokens, model.Turn{}); wait < tc.min || wait > tc.max {
					t.Errorf("wait %v, want %v", wait, tc.min)
				}
				if time.Sleep(tc.max); tc.max == 0 {
					return
				}
				if wait := held(t, &p, tc.tokens, model.Turn{Waited: true}); wait != 0 {
					t.Errorf("after that: wait %v", wait)
				}
			})
		})
	}
}

func TestPacerCountsWhatIsSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p model.Pacer
		p.Observe(time.Now(), http.StatusOK, "x-ratelimit-limit-tokens", "1000", "x-ratelimit-remaining-tokens", "1000", "x-ratelimit-reset-tokens", "60s")
		sent := 0
		for held(t, &p, 300, model.Turn{}) == 0 {
			sent++
		}
		if sent != 3 {
			t.Errorf("%d requests of 300 tokens were let through, of 1,000", sent)
		}
	})
}
