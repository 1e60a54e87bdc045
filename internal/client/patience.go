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

// backoff waits between tries, longer each time, until a deadline.
type backoff struct {
	deadline time.Time
	next     time.Duration
}

// wait reports whether there is time for another try after err, after having
// waited: no less than the server asked for.
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

// idempotencyHeader lets a request be repeated without being done twice.
const idempotencyHeader = "Idempotency-Key"

// again makes a request that carries an Idempotency-Key until it is answered.
// Only a server that was reached is tried again: where none answers at all, the
// caller should hear so at once.
func (c *Client) again(ctx context.Context, request func() error) error {
	retry := backoff{deadline: time.Now().Add(c.patience)}
	reached := false
	for {
		err := request()
		if err == nil {
			return nil
		}
		reached = reached || !errors.Is(err, ErrNoServer)
		if !reached || !passing(ctx, err) || !retry.wait(ctx, err) {
			return err
		}
	}
}

// watched is a body that is closed when nothing was read from it for a while,
// because a server that lost its machine says nothing, not even goodbye.
type watched struct {
	body    io.ReadCloser
	silence time.Duration
	timer   *time.Timer
	close   func() error
	since   time.Time
	heard   time.Time // when something was last read
}

func watch(body io.ReadCloser, silence time.Duration) *watched {
	closing := sync.OnceValue(body.Close)
	now := time.Now()
	return &watched{body: body, silence: silence, close: closing, since: now, heard: now,
		timer: time.AfterFunc(silence, func() { _ = closing() })}
}

// Read implements io.Reader.
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.body.Read(p)
	if err == nil {
		w.timer.Reset(w.silence)
		w.heard = time.Now()
	}
	return n, err
}

// stood reports whether the connection was up for longer than a moment, and did
// not end by its silence.
func (w *watched) stood(moment time.Duration) bool {
	return time.Since(w.since) > moment && time.Since(w.heard) < w.silence
}

// Close closes the body, once.
func (w *watched) Close() error {
	w.timer.Stop()
	return w.close()
}
