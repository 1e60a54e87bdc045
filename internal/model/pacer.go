package model

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"
)

const (
	// minGap is the shortest time between two requests to an endpoint that refused
	// one. Below endGap the pacer lets requests start at any time again.
	minGap = 10 * time.Millisecond
	endGap = 2 * time.Millisecond
	maxGap = time.Minute
	// firstPause is the pause after a refusal that asks for none. It doubles with each
	// refusal that follows, up to maxPause.
	firstPause = time.Second
	maxPause   = time.Minute
	// recovery is the part of the slower rate that each answer adds to it: after
	// 1/recovery answers the rate is as before the refusal.
	recovery = .02
)

// pacer spreads the requests to one endpoint over time. It obeys the pauses and the
// rates that the endpoint asks for, and slows down when the endpoint refuses a request:
// each refusal halves the rate, and each answer adds a little to it. A request that
// was sent is never interrupted. Safe for concurrent use.
type pacer struct {
	mu       sync.Mutex
	until    time.Time     // no request starts before
	gap      time.Duration // between the starts of two requests; 0 = none
	next     time.Time     // the start of the next request, by the gap
	promised time.Time     // the start that the last caller without a turn was told
	slowed   time.Time     // the last refusal
	pause    time.Duration // after the next refusal, if the endpoint asks for none; 0 = firstPause
	step     float64       // what an answer adds to the rate, in requests a second
	started  time.Time     // the last request
	spacing  time.Duration // a moving average of the time between requests

	requests, tokens budget

	failed *Error // of the last request; nil = it was answered
}

// await blocks until a request of so many tokens may start. If that takes longer than
// the caller's patience, await returns at once the time until the caller should come
// back, and ok is false. An error is the cause of ctx.
func (p *pacer) await(ctx context.Context, tokens int, turn Turn) (wait time.Duration, ok bool, err error) {
	for {
		start, ok := p.reserve(time.Now(), tokens, turn)
		wait := time.Until(start)
		if !ok || wait <= 0 {
			return max(wait, 0), ok, nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return 0, false, context.Cause(ctx)
		}
		if p.open(time.Now()) {
			return 0, true, nil
		}
		turn.Waited = true // the endpoint refused others meanwhile
	}
}

// open reports whether the endpoint asks for no pause now.
func (p *pacer) open(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.until.After(now)
}

// reserve returns the time at which a request may start, or at which the caller should
// come back if that is too late for its patience.
func (p *pacer) reserve(now time.Time, tokens int, turn Turn) (start time.Time, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if turn.Now {
		p.until, p.promised, p.requests, p.tokens = time.Time{}, time.Time{}, budget{}, budget{}
		return now, true
	}
	start = latest(now, p.until, p.next, p.requests.ready(now, 1), p.tokens.ready(now, float64(tokens)))
	if !turn.Waited {
		start = latest(start, p.promised)
	}
	if start.Sub(now) > turn.Patience {
		p.promised = latest(start, p.promised).Add(max(p.gap, p.spacing))
		return p.promised, false
	}
	p.next = start.Add(p.gap)
	p.requests.remaining--
	p.tokens.remaining -= float64(tokens)
	if !p.started.IsZero() {
		p.spacing += (min(max(start.Sub(p.started), 0), time.Second) - p.spacing) / 8
	}
	p.started = start
	return start, true
}

// observe learns from the answer to a request that was sent at a time.
func (p *pacer) observe(sent, now time.Time, status int, h http.Header) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests.update(now, h, "requests")
	p.tokens.update(now, h, "tokens")
	asked := retryAfter(h, now)
	switch {
	case status == http.StatusTooManyRequests && asked == 0:
		asked = p.refused(sent, now)
	case status == http.StatusTooManyRequests:
		p.refused(sent, now)
	case status < 400:
		p.answered(sent)
	}
	p.until = latest(p.until, now.Add(asked))
}

// ended notes how a request ended, and marks a failure that repeats the one before it.
// It returns err. A refusal that concerns this request alone changes nothing.
func (p *pacer) ended(err error) error {
	e, ok := errors.AsType[*Error](err)
	if err != nil && (!ok || !e.Retryable && e.Code != CodeUnauthorized) {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if e != nil {
		e.Repeated = p.failed != nil && p.failed.Code == e.Code && p.failed.Status == e.Status
	}
	p.failed = e
	return err
}

// lastFailure returns the failure of the last request, nil if it was answered.
func (p *pacer) lastFailure() *Error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failed
}

// refused halves the rate, and returns the pause for an endpoint that asks for none.
// Refusals of requests that were sent together count once, and those without an answer
// in between halve the rate once.
func (p *pacer) refused(sent, now time.Time) time.Duration {
	if !sent.After(p.slowed) {
		return 0
	}
	p.slowed = now
	if p.pause == 0 {
		p.pause = firstPause
		p.gap = min(max(2*p.gap, 2*p.spacing, minGap), maxGap)
		p.step = recovery / p.gap.Seconds()
	}
	pause := p.pause
	p.pause = min(2*p.pause, maxPause)
	return pause
}

// answered raises the rate a little.
func (p *pacer) answered(sent time.Time) {
	if !sent.After(p.slowed) {
		return
	}
	p.pause = 0
	if p.gap > 0 {
		p.gap = time.Duration(float64(time.Second) / (1/p.gap.Seconds() + p.step))
	}
	if p.gap < endGap {
		p.gap = 0
	}
}

func latest(first time.Time, others ...time.Time) time.Time {
	for _, t := range others {
		if t.After(first) {
			first = t
		}
	}
	return first
}
