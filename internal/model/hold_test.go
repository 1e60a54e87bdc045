package model_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/model"
)

// holdTest is an endpoint that asks for a pause of an hour.
type holdTest struct {
	*testing.T
	model.Pacer
	began time.Time
}

// refused sends a request that begins the hold.
func (h *holdTest) refused(headers ...string) {
	h.Helper()
	h.began = time.Now()
	time.Sleep(time.Millisecond)
	_, end := h.Send()
	if err := end(http.StatusTooManyRequests, headers...); err == nil {
		h.Fatal("no error")
	}
	h.began = time.Now()
}

// turn reports whether a caller gets a turn at once.
func (h *holdTest) turn(turn model.Turn) bool {
	h.Helper()
	_, ok, err := h.Await(h.Context(), 1, turn)
	if err != nil {
		h.Error(err)
	}
	return ok
}

// probe waits for the turn of the next probe, as somebody with patience does, sends it, and
// returns when that was after the last refusal.
func (h *holdTest) probe(status int, headers ...string) time.Duration {
	h.Helper()
	if !h.turn(model.Turn{Patience: time.Hour}) {
		h.Fatal("no turn within an hour")
	}
	after := time.Since(h.began)
	probe, end := h.Send()
	if !probe {
		h.Error("the request is no probe")
	}
	_ = end(status, headers...) // the error is looked at elsewhere
	h.began = time.Now()
	return after
}

func inHold(t *testing.T, name string, test func(h *holdTest)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h := &holdTest{T: t}
			time.Sleep(time.Second)
			test(h)
		})
	})
}

func TestHeldEndpoint(t *testing.T) {
	t.Parallel()
	hour := []string{"Retry-After", "3600"}

	inHold(t, "it is probed after 5, 10, 20, … seconds and at least every five minutes", func(h *holdTest) {
		h.refused(hour...)
		var got []time.Duration
		for range 9 {
			got = append(got, h.probe(http.StatusTooManyRequests, hour...))
		}
		s := time.Second
		if diff := cmp.Diff([]time.Duration{5 * s, 10 * s, 20 * s, 40 * s, 80 * s, 160 * s, 300 * s, 300 * s, 300 * s}, got); diff != "" {
			h.Errorf("probes (-want +got):\n%s", diff)
		}
	})
	inHold(t, "a probe without an answer is refused too", func(h *holdTest) {
		h.refused(hour...)
		got := []time.Duration{h.probe(0), h.probe(http.StatusServiceUnavailable), h.probe(http.StatusTooManyRequests)}
		if diff := cmp.Diff([]time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second}, got); diff != "" {
			h.Errorf("probes (-want +got):\n%s", diff)
		}
	})
	inHold(t, "it is probed at the end of its pause if that comes before the next probe", func(h *holdTest) {
		h.refused("Retry-After", "63")
		got := []time.Duration{h.probe(0), h.probe(0), h.probe(0), h.probe(0)}
		if diff := cmp.Diff([]time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 28 * time.Second}, got); diff != "" {
			h.Errorf("probes (-want +got):\n%s", diff)
		}
	})
	inHold(t, "an answer to anybody lifts the hold at once", func(h *holdTest) {
		lifted := 0
		h.Lifted(func() { lifted++ })
		h.refused(hour...)
		time.Sleep(time.Second)
		_, end := h.Send() // a question, which takes no turn
		time.AfterFunc(time.Second, func() { _ = end(http.StatusOK) })
		began := time.Now()
		if !h.turn(model.Turn{Patience: 10 * time.Second}) || time.Since(began) != time.Second {
			h.Errorf("who waits was let through after %v", time.Since(began))
		}
		for range 3 {
			if !h.turn(model.Turn{Patience: time.Second}) {
				h.Error("another one is held")
			}
		}
		if synctest.Wait(); lifted != 1 {
			h.Errorf("it was told %d times", lifted)
		}
	})
	inHold(t, "an answer to a request from before the refusal says nothing", func(h *holdTest) {
		_, end := h.Send()
		h.refused(hour...)
		_ = end(http.StatusOK)
		if h.turn(model.Turn{}) {
			h.Error("it is not held")
		}
	})
	inHold(t, "a request that is refused for what is in it lifts the hold", func(h *holdTest) {
		h.refused(hour...)
		h.probe(http.StatusRequestEntityTooLarge)
		if !h.turn(model.Turn{Patience: time.Second}) {
			h.Error("it is held")
		}
	})
	inHold(t, "a pause of up to a minute is obeyed to the second", func(h *holdTest) {
		h.refused("Retry-After", "60")
		began := time.Now()
		if !h.turn(model.Turn{Patience: time.Hour}) || time.Since(began) != time.Minute {
			h.Errorf("a turn after %v", time.Since(began))
		}
		h.refused(hour...)
		h.probe(http.StatusTooManyRequests, "Retry-After", "50")
		if !h.turn(model.Turn{Patience: time.Hour}) || time.Since(h.began) != 50*time.Second {
			h.Errorf("after a probe, a turn after %v", time.Since(h.began))
		}
	})
}

func TestTurnsAtAHeldEndpoint(t *testing.T) {
	t.Parallel()
	hour := []string{"Retry-After", "3600"}

	inHold(t, "somebody who knows better probes at once, and alone", func(h *holdTest) {
		h.refused(hour...)
		if !h.turn(model.Turn{Now: true}) || h.turn(model.Turn{Now: true}) {
			h.Error("not exactly one of two was let through")
		}
		_, end := h.Send()
		time.AfterFunc(time.Second, func() { _ = end(http.StatusOK) })
		if !h.turn(model.Turn{Now: true, Patience: 2 * time.Second}) {
			h.Error("another one is held after the answer")
		}
	})
	inHold(t, "a caller that sends nothing loses its turn", func(h *holdTest) {
		h.refused(hour...)
		for range 2 {
			if !h.turn(model.Turn{Patience: time.Minute}) {
				h.Error("no second turn within a minute")
			}
		}
		if after := time.Since(h.began); after != 15*time.Second {
			h.Errorf("the second turn came after %v", after)
		}
	})
	inHold(t, "a caller that leaves waits for a probe, but not for the next one", func(h *holdTest) {
		h.refused(hour...)
		if !h.turn(model.Turn{Now: true}) {
			h.Fatal("no turn")
		}
		_, end := h.Send()
		time.AfterFunc(time.Second, func() { _ = end(http.StatusTooManyRequests, hour...) })
		began := time.Now()
		if h.turn(model.Turn{Patience: time.Minute, Leaves: true}) || time.Since(began) != time.Second {
			h.Errorf("it left after %v", time.Since(began))
		}
	})
	inHold(t, "a look takes no turn", func(h *holdTest) {
		h.refused(hour...)
		if h.turn(model.Turn{Look: true, Patience: time.Hour}) {
			h.Error("it is not held")
		}
		time.Sleep(5 * time.Second)
		for range 2 {
			if !h.turn(model.Turn{Look: true}) {
				h.Error("a look took the turn")
			}
		}
		if !h.turn(model.Turn{}) || h.turn(model.Turn{Look: true}) {
			h.Error("only the turn ends the looks")
		}
	})
	inHold(t, "the refused request learns of the next probe, and of the pause that was asked for", func(h *holdTest) {
		_, end := h.Send()
		refused, ok := errors.AsType[*model.Error](end(http.StatusTooManyRequests, hour...))
		if !ok || refused.RetryAfter != time.Hour || refused.NextProbe < 5*time.Second || refused.NextProbe > 6*time.Second {
			h.Errorf("%+v", refused)
		}
	})
	inHold(t, "who is not let through comes back about when the next probe is due", func(h *holdTest) {
		h.refused(hour...)
		last := time.Duration(0)
		for range 20 {
			wait := held(h.T, &h.Pacer, 1, model.Turn{})
			if wait < 5*time.Second || wait > 10*time.Second || wait <= last {
				h.Fatalf("wait %v after one of %v", wait, last)
			}
			last = wait
		}
	})
	inHold(t, "a budget that ends in an hour is such a pause too", func(h *holdTest) {
		_, end := h.Send()
		_ = end(http.StatusOK, "x-ratelimit-remaining-requests", "0", "x-ratelimit-reset-requests", "1h")
		if h.turn(model.Turn{}) {
			h.Error("it is not held")
		}
		h.began = time.Now()
		if after := h.probe(http.StatusOK); after != 5*time.Second {
			h.Errorf("probed after %v", after)
		}
		if !h.turn(model.Turn{}) {
			h.Error("it is held after an answer")
		}
	})
}

// TestProbesOfManyCallers has callers of all kinds at an endpoint that is held for a random
// time: there are never two probes at once, none is late, and all are answered soon after
// the endpoint recovers.
func TestProbesOfManyCallers(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { manyCallers(t, rand.New(rand.NewPCG(seed, 1))) })
		})
	}
}

func manyCallers(t *testing.T, random *rand.Rand) {
	var p model.Pacer
	time.Sleep(time.Second)
	_, end := p.Send()
	_ = end(http.StatusTooManyRequests, "Retry-After", "86400")
	recovers := time.Now().Add(time.Duration(random.IntN(7200)) * time.Second)
	var mu sync.Mutex // of what follows, and of random
	probes, last := 0, time.Now()
	number := func(n int) time.Duration {
		mu.Lock()
		defer mu.Unlock()
		return time.Duration(random.IntN(n))
	}
	ask := func() (answered bool) {
		probe, end := p.Send()
		mu.Lock()
		if probes++; probe && probes > 1 {
			t.Errorf("%d probes at once", probes)
		}
		if late := time.Since(last); late > 5*time.Minute+30*time.Second {
			t.Errorf("no probe for %v", late)
		}
		mu.Unlock()
		time.Sleep(number(20_000) * time.Millisecond)
		mu.Lock()
		probes, last = probes-1, time.Now()
		mu.Unlock()
		if answered = time.Now().After(recovers); answered {
			_ = end(http.StatusOK)
		} else {
			_ = end([]int{http.StatusTooManyRequests, http.StatusBadGateway, 0}[number(3)], "Retry-After", "86400")
		}
		return answered
	}
	var callers sync.WaitGroup
	for n := range 12 {
		callers.Go(func() {
			for turn := (model.Turn{Patience: time.Duration(n%3) * time.Minute}); ; turn.Now = number(40) == 0 {
				wait, ok, err := p.Await(t.Context(), 1, turn)
				if err != nil {
					t.Error(err)
					return
				}
				if ok && ask() {
					return
				}
				turn.Waited = !ok
				time.Sleep(wait)
			}
		})
	}
	callers.Wait()
	if late := time.Since(recovers); late > 7*time.Minute {
		t.Errorf("the last one was answered %v after the endpoint had recovered", late)
	}
}
