package model

import (
	"context"
	"net/http"
	"time"
)

// Pacer is a pacer for tests.
type Pacer struct{ pacer }

// Await is await.
func (p *Pacer) Await(ctx context.Context, tokens int, turn Turn) (wait time.Duration, ok bool, err error) {
	return p.await(ctx, tokens, turn)
}

// Observe is observe, now.
func (p *Pacer) Observe(sent time.Time, status int, headers ...string) {
	h := http.Header{}
	for i := 0; i+1 < len(headers); i += 2 {
		h.Add(headers[i], headers[i+1])
	}
	p.observe(&sending{at: sent}, time.Now(), status, h)
}

// Send sends a request. It returns whether that is the probe of a held endpoint, and a
// function that ends the request with an answer, or for status 0 without one.
func (p *Pacer) Send() (probe bool, end func(status int, headers ...string) error) {
	sent := p.send()
	return sent.probe, func(status int, headers ...string) error {
		h := http.Header{}
		for i := 0; i+1 < len(headers); i += 2 {
			h.Add(headers[i], headers[i+1])
		}
		if status == 0 {
			return p.ended(sent, &Error{Code: CodeConnection, Retryable: true})
		}
		p.observe(sent, time.Now(), status, h)
		if status < 400 {
			return p.ended(sent, nil)
		}
		code, retryable := codeOfStatus(status)
		return p.ended(sent, &Error{Code: code, Status: status, Retryable: retryable, RetryAfter: retryAfter(h, time.Now())})
	}
}

// Lifted sets what is called when a hold ends.
func (p *Pacer) Lifted(call func()) { p.lifted = call }
