package model

import (
	"cmp"
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
// each refusal halves the rate, and each answer adds a little to it. A pause of more than
// maxPause is not obeyed to its end: the endpoint is held, and probed. A request that was
// sent is never interrupted. Safe for concurrent use.
type pacer struct {
	mu       sync.Mutex
	held     *hold         // nil = the endpoint is not held
	changed  chan struct{} // closed when the hold changes; nil = nobody waits for that
	lifted   func()        // is called when a hold ends; nil = nobody is told
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
	deadline := time.Now().Add(turn.Patience)
	for {
		now := time.Now()
		turn.Patience = max(deadline.Sub(now), 0)
		start, change, ok := p.reserve(now, tokens, turn)
		wait := start.Sub(now)
		if !ok || wait <= 0 {
			return max(wait, 0), ok, nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-change:
		case <-ctx.Done():
			timer.Stop()
			return 0, false, context.Cause(ctx)
		}
		timer.Stop()
		if change == nil && p.open(time.Now()) {
			return 0, true, nil
		}
		turn.Waited, turn.Now = true, false // the endpoint refused others meanwhile, or a hold has changed
	}
}

// open reports whether the endpoint asks for no pause now.
func (p *pacer) open(now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.held == nil && !p.until.After(now)
}

// reserve returns the time at which a request may start, or at which the caller should
// come back if that is too late for its patience. With a channel it has reserved nothing:
// the caller asks again at that time, or when the channel is closed.
func (p *pacer) reserve(now time.Time, tokens int, turn Turn) (start time.Time, change <-chan struct{}, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if turn.Now {
		p.until, p.promised, p.requests, p.tokens = time.Time{}, time.Time{}, budget{}, budget{}
		p.held.probeNow(now)
	}
	budgets := latest(now, p.requests.ready(now, 1), p.tokens.ready(now, float64(tokens)))
	if p.held == nil && budgets.Sub(now) > maxProbe {
		p.hold(now, budgets.Sub(now))
	}
	switch {
	case p.held != nil:
		return p.probe(now, turn)
	case turn.Now, turn.Look:
		return now, nil, true
	}
	start = latest(budgets, p.until, p.next)
	if !turn.Waited {
		start = latest(start, p.promised)
	}
	if start.Sub(now) > turn.Patience {
		return p.promise(start), nil, false
	}
	p.next = start.Add(p.gap)
	p.requests.remaining--
	p.tokens.remaining -= float64(tokens)
	if !p.started.IsZero() {
		p.spacing += (min(max(start.Sub(p.started), 0), time.Second) - p.spacing) / 8
	}
	p.started = start
	return start, nil, true
}

// promise returns when a caller should come back that finds no turn before start: those
// who wait come back one after the other.
func (p *pacer) promise(start time.Time) time.Time {
	p.promised = latest(start, p.promised).Add(max(p.gap, p.spacing))
	return p.promised
}

// sending is a request that was sent to the endpoint.
type sending struct {
	at    time.Time
	probe bool // of a held endpoint
}

// send notes that a request is sent. The caller tells observe of its answer, and ended of
// its end.
func (p *pacer) send() *sending {
	now := time.Now()
	p.mu.Lock()
	defer p.mu.Unlock()
	return &sending{now, p.held.send(now)}
}

// observe learns from the answer to a request.
func (p *pacer) observe(s *sending, now time.Time, status int, h http.Header) {
	p.mu.Lock()
	defer p.mu.Unlock()
	asked, limited := retryAfter(h, now), status == http.StatusTooManyRequests
	if p.held != nil && s.at.After(p.held.refused) && takes(status) {
		p.lift()
	}
	if p.held == nil {
		p.requests.update(now, h, "requests")
		p.tokens.update(now, h, "tokens")
	}
	var pause time.Duration
	switch {
	case limited:
		pause = p.refused(s.at, now)
	case status < 400:
		p.answered(s.at)
		asked = min(asked, maxPause) // an endpoint that answers is not held
	}
	switch {
	case p.held != nil && !s.probe: // the next probe tells more
	case asked > maxPause, p.held != nil && limited && asked == 0:
		p.hold(now, asked)
	case p.held != nil && asked == 0: // ended sets the time of the next probe
	default:
		p.lift() // a pause of this length is obeyed
		p.until = latest(p.until, now.Add(cmp.Or(asked, pause)))
	}
}

// ended notes how a request ended, and marks a failure that repeats the one before it.
// It returns err, which tells when a held endpoint is probed again. A refusal that concerns
// this request alone changes nothing.
func (p *pacer) ended(s *sending, err error) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	p.probed(s, now, err)
	e, ok := errors.AsType[*Error](err)
	if err != nil && (!ok || !e.Retryable && e.Code != CodeUnauthorized) {
		return err
	}
	if e != nil {
		if p.held != nil && (e.Status == http.StatusTooManyRequests || e.RetryAfter > maxPause) {
			e.NextProbe = p.promise(p.held.comeBack(now)).Sub(now)
		}
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
