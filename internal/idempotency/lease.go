package idempotency

import (
	"context"
	"sync"
	"time"

	"github.com/cairn-rag/cairn/internal/store"
)

const (
	// leaseTime is how long a key stays held by a process that died. A lease that is
	// longer was given by a clock that is ahead: it has expired if nobody renews it for
	// this time.
	leaseTime  = 15 * time.Second
	renewEvery = leaseTime / 3
	// firstLook and lastLook are how soon a request looks again whether another process
	// still holds its key, at first and after some looks.
	firstLook = 20 * time.Millisecond
	lastLook  = 500 * time.Millisecond
)

// claim claims a key in the store. It blocks while another process holds it.
func (k *Keys) claim(ctx context.Context, key store.IdempotencyKey) (*store.IdempotencyRecord, error) {
	var last time.Time    // when the lease ended at the last look
	renewed := time.Now() // when it was first seen to end then
	for wait := firstLook; ; wait = min(2*wait, lastLook) {
		key.Now = k.now()
		if !last.IsZero() && time.Since(renewed) > leaseTime {
			key.Now = last
		}
		if k.process != "" {
			key.LeasedUntil = key.Now.Add(leaseTime)
		}
		existing, err := k.store.ClaimKey(ctx, key)
		if err != nil || existing == nil || !existing.Held {
			return existing, err
		}
		if !existing.LeasedUntil.Equal(last) {
			last, renewed = existing.LeasedUntil, time.Now()
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// hold renews the lease of a claim until its request leaves, and ends it then. The
// request does not wait for that; the next one of this process does.
func (c *Claim) hold(ctx context.Context) {
	if c.keys.process == "" {
		return
	}
	ctx, leave, left := context.WithoutCancel(ctx), c.leave, make(chan struct{})
	c.leave = sync.OnceFunc(func() { close(left) })
	go func() {
		defer leave()
		ticker := time.NewTicker(renewEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				c.lease(ctx, c.keys.now().Add(leaseTime))
			case <-left:
				if !c.settled {
					c.lease(ctx, time.Time{})
				}
				return
			}
		}
	}()
}

// lease sets the end of the lease of a claim. An error is not reported: the lease is
// renewed at the next tick, or expires.
func (c *Claim) lease(ctx context.Context, until time.Time) {
	ctx, cancel := context.WithTimeout(ctx, renewEvery)
	defer cancel()
	_ = c.keys.store.HoldKey(ctx, store.IdempotencyKey{
		Workspace: c.workspace, Caller: c.caller, Key: c.key, Owner: c.keys.process, LeasedUntil: until,
	})
}
