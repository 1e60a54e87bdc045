package model

import (
	"errors"
	"net/http"
	"time"
)

// A held endpoint is probed by one request after firstProbe. Each refused probe doubles the
// time to the next one, up to maxProbe.
const (
	firstProbe = 5 * time.Second
	maxProbe   = 5 * time.Minute
	// sendLimit is how long the turn of a probe is kept for a caller that has sent nothing.
	sendLimit = 10 * time.Second
	// probeLook is how often a caller without patience looks for the end of a probe.
	probeLook = time.Second
)

// hold is a pause of more than maxPause that an endpoint asks for. Many endpoints ask for
// more than they need, so it is not waited for: one request at a time, the probe, finds out
// when the endpoint takes requests again. The methods allow nil, an endpoint that is not
// held.
type hold struct {
	refused time.Time     // the last refusal
	until   time.Time     // the end of the pause that the endpoint asks for
	pause   time.Duration // between the last refusal and the next probe
	next    time.Time     // the next probe
	taken   time.Time     // when the turn of the probe was taken; zero = nobody has it
	sent    bool          // by the caller that has the turn
}

// probing reports whether a caller has the turn of the probe.
func (h *hold) probing(now time.Time) bool {
	return !h.taken.IsZero() && h.lost().After(now)
}

// lost returns when a caller loses the turn of the probe that does not use it, or whose
// request does not end.
func (h *hold) lost() time.Time {
	if h.sent {
		return h.taken.Add(maxProbe)
	}
	return h.taken.Add(sendLimit)
}

// probeNow makes the next probe due, unless one is under way.
func (h *hold) probeNow(now time.Time) {
	if h != nil && !h.probing(now) {
		h.next = now
	}
}

// send notes that a request is sent, and reports whether it is the probe.
func (h *hold) send(now time.Time) bool {
	if h == nil || h.sent || !h.probing(now) {
		return false
	}
	h.taken, h.sent = now, true
	return true
}

// comeBack returns when a caller should ask again for the turn of the probe.
func (h *hold) comeBack(now time.Time) time.Time {
	if h.probing(now) {
		return now.Add(probeLook)
	}
	return latest(now, h.next)
}

// hold begins a hold, or continues it after a refused probe. asked is the pause that the
// endpoint asks for, 0 = it asks for none.
func (p *pacer) hold(now time.Time, asked time.Duration) {
	h := p.held
	if h == nil {
		h = &hold{pause: firstProbe}
		p.held, p.requests, p.tokens, p.until = h, budget{}, budget{}, time.Time{}
	} else {
		h.pause = min(2*h.pause, maxProbe)
	}
	h.refused, h.until = now, now.Add(asked)
	h.later(now)
	p.change()
}

// asked returns how much is left of the pause that a held endpoint asks for; ok is false if
// it is not held.
func (p *pacer) asked(now time.Time) (left time.Duration, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held == nil {
		return 0, false
	}
	return max(p.held.until.Sub(now), 0), true
}

// later ends the turn of the present probe and sets the time of the next one. The end of the
// pause that the endpoint asks for is such a time too.
func (h *hold) later(now time.Time) {
	h.taken, h.sent = time.Time{}, false
	h.next = now.Add(h.pause)
	if h.until.After(now) && h.until.Before(h.next) {
		h.next = h.until
	}
}

// lift ends a hold: the endpoint takes requests again.
func (p *pacer) lift() {
	if p.held == nil {
		return
	}
	p.held, p.promised = nil, time.Time{}
	p.change()
	if p.lifted != nil {
		go p.lifted()
	}
}

// change wakes the callers that wait for a change of the hold.
func (p *pacer) change() {
	if p.changed != nil {
		close(p.changed)
		p.changed = nil
	}
}

// probe is reserve for a held endpoint: it gives the turn of the probe to one caller.
func (p *pacer) probe(now time.Time, turn Turn) (start time.Time, change <-chan struct{}, ok bool) {
	h := p.held
	probing := h.probing(now)
	if !probing && !h.next.After(now) {
		if !turn.Look {
			h.taken, h.sent = now, false
		}
		return now, nil, true
	}
	wakes := h.next
	if probing { // it may end at any time
		wakes = now.Add(min(turn.Patience, h.lost().Sub(now)))
	}
	if turn.Patience <= 0 || turn.Look || turn.Leaves && !probing || wakes.Sub(now) > turn.Patience {
		return p.promise(h.comeBack(now)), nil, false
	}
	if p.changed == nil {
		p.changed = make(chan struct{})
	}
	return wakes, p.changed, true
}

// probed notes the end of a request. A probe that no answer to it has settled, because
// there was none or the endpoint failed otherwise, is followed by a later one.
func (p *pacer) probed(s *sending, now time.Time, err error) {
	h := p.held
	if h == nil || !s.probe || !h.sent || s.at != h.taken {
		return
	}
	h.taken, h.sent = time.Time{}, false
	if _, failed := errors.AsType[*Error](err); failed { // not canceled
		h.pause = min(2*h.pause, maxProbe)
		h.later(now)
	}
	p.change()
}

// takes reports whether an endpoint that answers with a status takes requests: it answers
// this one, or refuses what is in it.
func takes(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusRequestTimeout, http.StatusConflict, http.StatusTooManyRequests:
		return false
	}
	return status < http.StatusInternalServerError
}
