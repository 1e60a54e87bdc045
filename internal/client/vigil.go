package client

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// askAfter is the silence after which a client that tells of outages asks the server
	// whether it is there, and askFor is how long that may take. Both together are less
	// than the 5 s in which an outage is told.
	askAfter = 2500 * time.Millisecond
	askFor   = 2 * time.Second
	// askAgain is the time between two such requests while there is no answer, and for
	// which an answer holds for the other streams of the client.
	askAgain = time.Second
)

// errSilent is the cause of an outage in which no connection was closed.
var errSilent = errors.New("nothing comes through the connection")

// vigil watches one request or one stream for a server that is silent without closing the
// connection, such as one that was stopped, or one behind a network that is down.
type vigil struct {
	begin   time.Time
	heard   atomic.Int64 // when something was read, as a duration since begin
	out     *outage
	cancel  context.CancelFunc
	stopped sync.WaitGroup
}

// attend tells of an outage when neither the connection nor the server answers. When the
// server answers again and the connection still does not, it calls lost. It does nothing in
// a client that tells of no outages. The caller must call stop.
func (c *Client) attend(ctx context.Context, out *outage, lost func()) *vigil {
	ctx, cancel := context.WithCancel(ctx)
	v := &vigil{begin: time.Now(), out: out, cancel: cancel}
	if c.outages != nil {
		v.stopped.Go(func() { v.watch(ctx, c, lost) })
	}
	return v
}

// stop ends the vigil. Nothing is told afterwards.
func (v *vigil) stop() {
	v.cancel()
	v.stopped.Wait()
}

// hear records that something was read, which ends an outage.
func (v *vigil) hear() {
	v.heard.Store(int64(time.Since(v.begin)))
	v.out.over()
}

func (v *vigil) silence() time.Duration {
	return time.Since(v.begin) - time.Duration(v.heard.Load())
}

func (v *vigil) watch(ctx context.Context, c *Client, lost func()) {
	told := false
	for pause := askAfter; sleep(ctx, pause); {
		if silent := v.silence(); silent < askAfter {
			told, pause = false, askAfter-silent
			continue
		}
		err := c.alive.ask(ctx, c)
		pause = askAfter
		switch {
		case ctx.Err() != nil:
			return
		case v.silence() < askAfter:
			told = false
		case err != nil:
			v.out.now(err)
			told, pause = true, askAgain
		case told:
			told = false
			lost()
		}
	}
}

// sleep reports false when ctx ends first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// alive is whether the server answers, for all streams of a client.
type alive struct {
	mu  sync.Mutex
	at  time.Time // of the last answer to ask, or of the failure to get one
	err error
}

// ask returns nil if the server answers anything in time.
func (a *alive) ask(ctx context.Context, c *Client) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if time.Since(a.at) < askAgain {
		return a.err
	}
	asking, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	res, err := c.do(asking, http.MethodGet, "/healthz", nil, nil, nil)
	if err == nil {
		err = res.Body.Close()
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = &NoServerError{URL: c.base.String(), Cause: errSilent}
	}
	if ctx.Err() == nil {
		a.at, a.err = time.Now(), err
	}
	return err
}
