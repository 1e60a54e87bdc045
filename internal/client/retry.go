package client

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"
)

const (
	backoffFirst = 100 * time.Millisecond
	backoffLast  = 2 * time.Second
)

// backoff waits between tries until a deadline, twice as long each time up to
// backoffLast.
type backoff struct {
	deadline time.Time
	next     time.Duration
}

// wait waits before another try after err, at least as long as the server asked
// for. It reports false at once if the deadline comes first, and when ctx ends.
func (b *backoff) wait(ctx context.Context, err error) bool {
	b.next = min(max(b.next*2, backoffFirst), backoffLast)
	pause := b.next
	if e, ok := errors.AsType[*Error](err); ok {
		pause = max(pause, e.RetryAfter)
	}
	if time.Now().Add(pause).After(b.deadline) {
		return false
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// idempotencyHeader makes a repeated request have its effect only once.
const idempotencyHeader = "Idempotency-Key"

// retryRequest repeats a request that carries an Idempotency-Key until it is
// answered. It does not repeat it if no server was ever reached, so that the
// caller gets that error at once.
func (c *Client) retryRequest(ctx context.Context, request func() error) error {
	retry := backoff{deadline: time.Now().Add(c.patience)}
	reached := false
	out := outage{tell: c.outages}
	for {
		silence := c.attend(ctx, &out, out.over)
		err := request()
		silence.stop()
		if err == nil {
			out.over()
			return nil
		}
		reached = reached || !errors.Is(err, ErrNoServer)
		if !reached || !out.again(ctx, &retry, err) {
			return err
		}
	}
}

// watched closes a body from which nothing was read for a while. The connection
// to a server that lost its machine stays open without traffic.
type watched struct {
	body    io.ReadCloser
	silence time.Duration
	timer   *time.Timer
	close   func() error
	since   time.Time
	heard   time.Time // time of the last read
	hear    func()    // is called at each read
}

func watch(body io.ReadCloser, silence time.Duration, hear func()) *watched {
	closing := sync.OnceValue(body.Close)
	now := time.Now()
	return &watched{body: body, silence: silence, close: closing, since: now, heard: now, hear: hear,
		timer: time.AfterFunc(silence, func() { _ = closing() })}
}

// Read implements io.Reader.
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.body.Read(p)
	if err == nil {
		w.timer.Reset(w.silence)
		w.heard = time.Now()
		w.hear()
	}
	return n, err
}

// wasUp reports whether the connection lasted longer than moment and did not
// end in silence.
func (w *watched) wasUp(moment time.Duration) bool {
	return time.Since(w.since) > moment && time.Since(w.heard) < w.silence
}

// Close closes the body, once.
func (w *watched) Close() error {
	w.timer.Stop()
	return w.close()
}
