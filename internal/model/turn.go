package model

import (
	"context"
	"time"
)

// Turn is how a caller waits for its turn at an endpoint.
type Turn struct {
	// Patience is the longest wait that the caller accepts.
	Patience time.Duration
	// Waited reports that the caller was refused a turn before and returns at the time
	// that it was promised. It goes before callers that did not wait.
	Waited bool
	// Now ends all waits that the endpoint asked for: somebody knows better. A held endpoint
	// is probed at once, by one caller.
	Now bool
	// Leaves reports that the caller has a better place to wait for the next probe of a held
	// endpoint. It stays for the end of one that is under way.
	Leaves bool
	// Look takes no turn, and only fails if the endpoint is held and not to be probed yet.
	Look bool
}

// TakeTurn blocks until a request of about so many tokens may be sent to the endpoint.
// It returns an *Error that is Held if that takes longer than the caller's patience:
// the caller comes back after its RetryAfter, or after its NextProbe if that is set. The
// error has the code of the last request, if that failed. Other errors are the cause of ctx.
func (c *Client) TakeTurn(ctx context.Context, tokens int, turn Turn) error {
	wait, ok, err := c.pacer.await(ctx, tokens, turn)
	if err != nil || ok {
		return err
	}
	now := time.Now()
	held := &Error{
		Code: CodeRateLimited, Provider: c.endpoint.Provider, RetryAfter: wait, Retryable: true, Held: true,
		unasked: c.pacer.open(now),
	}
	if asked, ok := c.pacer.asked(now); ok {
		held.RetryAfter, held.NextProbe = asked, max(wait, time.Millisecond)
	}
	if last := c.pacer.lastFailure(); last != nil {
		held.Code, held.Status, held.Spent, held.Cause = last.Code, last.Status, last.Spent, last.Cause
	}
	return held
}

// WhenLifted sets what is called, in a goroutine of its own, each time the endpoint takes
// requests again after it was held.
func (c *Client) WhenLifted(call func()) {
	c.pacer.mu.Lock()
	defer c.pacer.mu.Unlock()
	c.pacer.lifted = call
}

// MaxTexts returns how many of n texts a request may hold: all, unless LimitTexts
// was called.
func (c *Client) MaxTexts(n int) int {
	if limit := int(c.texts.Load()); limit > 0 {
		return min(n, limit)
	}
	return n
}

// LimitTexts notes that the endpoint takes n texts in a request and refuses more. The
// lowest n counts.
func (c *Client) LimitTexts(n int) {
	for {
		limit := c.texts.Load()
		if limit > 0 && limit <= int64(n) || c.texts.CompareAndSwap(limit, int64(n)) {
			return
		}
	}
}
