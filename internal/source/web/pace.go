package web

import (
	"context"
	"sync"
	"time"

	"github.com/cairn-rag/cairn/internal/source"
)

// Pace limits the requests of a process to each host: few at a time, with a delay
// between them, and none while the host asks to wait. It is safe for concurrent
// use.
type Pace struct {
	connections int
	mu          sync.Mutex
	hosts       map[string]*host
}

// host is a host that requests are sent to or wait for.
type host struct {
	slots chan struct{} // one element for each request in progress
	users int           // requests in progress and waiting ones
	last  time.Time     // start of the last request
	until time.Time     // no request before
}

// NewPace returns a Pace that allows a number of requests to a host at a time.
func NewPace(connections int) *Pace {
	return &Pace{connections: connections, hosts: map[string]*host{}}
}

// longestWait is the longest time that a request waits for a host that asked for
// a pause. Beyond it, the caller does something else meanwhile.
const longestWait = 20 * time.Second

// wait blocks until a request to a host may start. The caller calls release when
// its answer is read. A long pause of the host is source.Throttled.
func (p *Pace) wait(ctx context.Context, name string, delay time.Duration) (release func(), err error) {
	h := p.enter(name)
	select {
	case h.slots <- struct{}{}:
	case <-ctx.Done():
		p.leave(h)
		return nil, ctx.Err()
	}
	release = sync.OnceFunc(func() {
		<-h.slots
		p.leave(h)
	})
	for {
		left, paused := p.start(h, delay)
		switch {
		case left <= 0:
			return release, nil
		case paused && left > longestWait:
			release()
			return nil, source.Throttled(left)
		}
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			release()
			return nil, ctx.Err()
		}
	}
}

// enter returns the host of a name, which stays until leave.
func (p *Pace) enter(name string) *host {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.forget()
	h := p.hosts[name]
	if h == nil {
		h = &host{slots: make(chan struct{}, p.connections)}
		p.hosts[name] = h
	}
	h.users++
	return h
}

func (p *Pace) leave(h *host) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h.users--
}

// remembered is the largest number of hosts without requests that are kept.
const remembered = 1000

// forget drops the hosts that no request waits for and whose times have passed.
func (p *Pace) forget() {
	if len(p.hosts) < remembered {
		return
	}
	now := time.Now()
	for name, h := range p.hosts {
		if h.users == 0 && now.After(h.until) && now.Sub(h.last) > time.Minute {
			delete(p.hosts, name)
		}
	}
}

// start notes the start of a request, or returns the time that it must wait, and
// whether the host asked for that.
func (p *Pace) start(h *host, delay time.Duration) (left time.Duration, paused bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if left = h.until.Sub(now); left > 0 {
		return left, true
	}
	if left = h.last.Add(delay).Sub(now); left > 0 {
		return left, false
	}
	h.last = now
	return 0, false
}

// hold delays the next requests to a host.
func (p *Pace) hold(name string, wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if h := p.hosts[name]; h != nil {
		if until := time.Now().Add(wait); until.After(h.until) {
			h.until = until
		}
	}
}
