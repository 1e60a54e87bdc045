// Package throttle keeps the requests to a service within what it allows: when an answer
// asks for fewer, every request of the same connection waits, and is then sent again.
//
// It knows nothing of what the requests ask for.
package throttle

import (
	"context"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/cairn-rag/cairn/internal/source"
)

// The bounds of waits.
const (
	firstWait   = time.Second
	longestWait = time.Minute // where the service does not say for how long
	patience    = 30 * time.Minute
)

// Slow reports whether an answer asks for fewer requests, and for how long it asks to
// wait, 0 = it does not say. It may read the body, and then puts it back.
type Slow func(*http.Response) (after time.Duration, slow bool)

// Standard is the Slow of services that answer 429, or 503 with Retry-After.
func Standard(r *http.Response) (time.Duration, bool) {
	after := source.RetryAfter(r.Header)
	return after, r.StatusCode == http.StatusTooManyRequests || r.StatusCode == http.StatusServiceUnavailable && after > 0
}

// Gate is what the requests of one connection wait at. It is safe for concurrent use.
type Gate struct {
	mu    sync.Mutex
	until time.Time
	tries int // answers, one after another, that asked for fewer requests
	// changed is called with the time until which requests wait.
	changed func(until time.Time)
}

// NewGate returns a gate that is closed until a time. changed is told when it closes, nil
// = nobody.
func NewGate(until time.Time, changed func(until time.Time)) *Gate {
	if changed == nil {
		changed = func(time.Time) {}
	}
	return &Gate{until: until, changed: changed}
}

// Until returns the time until which requests wait.
func (g *Gate) Until() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.until
}

// Extend closes the gate until a time, unless it is closed for longer.
func (g *Gate) Extend(until time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if until.After(g.until) {
		g.until = until
	}
}

// Wait blocks until the gate is open.
func (g *Gate) Wait(ctx context.Context) error {
	for {
		left := time.Until(g.Until())
		if left <= 0 {
			return nil
		}
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
	}
}

// Slow closes the gate for a time, or for a growing one if the service did not say (after
// is 0).
func (g *Gate) Slow(after time.Duration) {
	g.mu.Lock()
	g.tries++
	if after == 0 {
		after = min(firstWait<<min(g.tries-1, 10), longestWait)
	}
	until := time.Now().Add(after)
	later := until.After(g.until)
	if later {
		g.until = until
	}
	g.mu.Unlock()
	if later {
		g.changed(until)
	}
}

// Answered notes an answer that did not ask for fewer requests.
func (g *Gate) Answered() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tries = 0
}

// Client returns a client whose requests wait at a gate. client has a transport.
func Client(client *http.Client, g *Gate, slow Slow) *http.Client {
	through := *client
	through.Transport = transport{client.Transport, g, slow}
	return &through
}

type transport struct {
	base http.RoundTripper
	gate *Gate
	slow Slow
}

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	begun := time.Now()
	for try := 0; ; try++ {
		if err := t.gate.Wait(r.Context()); err != nil {
			return nil, err
		}
		if try > 0 && r.GetBody != nil {
			body, err := r.GetBody()
			if err != nil {
				return nil, err
			}
			r = r.Clone(r.Context())
			r.Body = body
		}
		answer, err := t.base.RoundTrip(r)
		if err != nil {
			return nil, err
		}
		after, slow := t.slow(answer)
		if !slow {
			t.gate.Answered()
			return answer, nil
		}
		t.gate.Slow(after)
		if time.Since(begun) > patience || r.Body != nil && r.Body != http.NoBody && r.GetBody == nil {
			return answer, nil
		}
		_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10)) // the connection is used again
		_ = answer.Body.Close()
	}
}
