package source

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"
)

// stallTimeout is the longest time without a byte of a body.
const stallTimeout = 60 * time.Second

// errStalled is the cause of the error for a body that stalled.
var errStalled = errors.New("no bytes arrived for a minute")

// Body is the body of an answer whose Read returns errors as Source.Open states
// them, and which fails if no byte arrives for a minute.
type Body struct {
	body    io.ReadCloser
	cancel  context.CancelFunc
	watch   *time.Timer
	stalled atomic.Bool
}

// NewBody returns body with the errors of a Source. cancel ends the request that
// the body belongs to; Close calls it.
func NewBody(body io.ReadCloser, cancel context.CancelFunc) *Body {
	b := &Body{body: body, cancel: cancel}
	b.watch = time.AfterFunc(time.Hour, func() {
		b.stalled.Store(true)
		cancel()
	})
	b.watch.Stop()
	return b
}

// Read implements io.Reader.
func (b *Body) Read(p []byte) (int, error) {
	b.watch.Reset(stallTimeout) // the time of a slow caller does not count
	n, err := b.body.Read(p)
	b.watch.Stop()
	switch {
	case err == nil || err == io.EOF:
		return n, err
	case b.stalled.Load():
		return n, Unavailable(errStalled)
	}
	return n, FromExchange(err)
}

// Close implements io.Closer.
func (b *Body) Close() error {
	b.watch.Stop()
	err := b.body.Close()
	b.cancel()
	return err
}
