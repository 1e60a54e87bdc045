package client

import (
	"context"
	"sync"
	"time"
)

// outageAfter is how long a client tries again before it tells of an outage. Shorter ones,
// such as the outages of a proxy that closes old connections, nobody needs to know.
const outageAfter = time.Second

// WithOutages returns a client that calls tell when it has tried again for a second, or when
// the server has been silent for up to 5 s, with the first error. It calls tell once more
// with nil when it is connected again. Until then nothing is yielded by the sequence of
// events that tries.
func (c *Client) WithOutages(tell func(error)) *Client {
	other := *c
	other.outages, other.alive = tell, &alive{}
	return &other
}

// outage is the time in which one request or one stream of events has no connection.
type outage struct {
	tell func(error) // may be nil

	mu    sync.Mutex // held while tell runs, so that the other calls wait for it
	timer *time.Timer
	told  bool
}

// again waits before another try after err. It reports false if none may follow.
func (o *outage) again(ctx context.Context, retry *backoff, err error) bool {
	if !isTransient(ctx, err) {
		o.end()
		return false
	}
	o.begin(err)
	if !retry.wait(ctx, err) {
		o.end()
		return false
	}
	return true
}

// begin begins the outage, if it has not begun.
func (o *outage) begin(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.tell == nil || o.timer != nil {
		return
	}
	o.timer = time.AfterFunc(outageAfter, func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.timer != nil && !o.told {
			o.told = true
			o.tell(err)
		}
	})
}

// now begins the outage, if it has not begun, and tells of it at once.
func (o *outage) now(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.told {
		return
	}
	if o.timer == nil {
		o.timer = time.NewTimer(0) // it has begun
	}
	o.told = true
	o.tell(err)
}

// over ends the outage, because there is a connection.
func (o *outage) over() {
	if o.end() {
		o.tell(nil)
	}
}

// end ends the outage, and reports whether it was told of.
func (o *outage) end() (told bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.timer != nil {
		o.timer.Stop()
	}
	told, o.told, o.timer = o.told, false, nil
	return told
}
