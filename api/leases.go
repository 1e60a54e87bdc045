package api

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// leaseInterval is how often the keys of open streams are checked.
const leaseInterval = time.Second

// errKeyEnded ends the streams of a key, a JWT or a session that is no longer valid.
var errKeyEnded = knowledge.Errorf(knowledge.CodeUnauthorized, "the key, token or session with which this stream was opened is no longer valid")

// leases ends the open streams of keys, JWTs and sessions that are no longer valid. Two
// queries a second ask for the keys and the sessions of all of them.
type leases struct {
	ended func(ctx context.Context, keys, sessions []string) (endedKeys, endedSessions []string, err error)
	now   func() time.Time
	log   *slog.Logger

	mu      sync.Mutex
	open    map[*lease]struct{}
	running bool // a goroutine checks; it leaves when nothing is open
}

// lease is what an open stream depends on.
type lease struct {
	edge.Holder
	end context.CancelCauseFunc
}

// hold returns a context that ends with errKeyEnded when the key, the JWT or the session
// of the request does. release is called once, when the stream has ended.
func (l *leases) hold(ctx context.Context) (held context.Context, release func()) {
	holder := edge.HolderOf(ctx)
	if holder == (edge.Holder{}) {
		return ctx, func() {}
	}
	held, end := context.WithCancelCause(ctx)
	one := &lease{holder, end}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[one] = struct{}{}
	if !l.running {
		l.running = true
		go l.check()
	}
	return held, func() {
		end(nil)
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.open, one)
	}
}

// check ends streams until none is open.
func (l *leases) check() {
	tick := time.NewTicker(leaseInterval)
	defer tick.Stop()
	for range tick.C {
		keys, sessions, some := l.holders()
		if !some {
			return
		}
		// Every stream that is open waits for it, and none of them is its caller.
		ctx, cancel := context.WithTimeout(context.Background(), leaseInterval)
		endedKeys, endedSessions, err := l.ended(ctx, keys, sessions)
		cancel()
		if err != nil { // the next round asks again
			l.log.Warn("the keys of open streams cannot be checked", "error", err)
		}
		l.endAll(endedKeys, endedSessions)
	}
}

// holders returns the keys and the sessions of the open streams. If none is open, the caller
// has to leave.
func (l *leases) holders() (keys, sessions []string, some bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	seenKeys, seenSessions := map[string]bool{}, map[string]bool{}
	for one := range l.open {
		seenKeys[one.Key], seenSessions[one.Session] = true, true
	}
	delete(seenKeys, "")
	delete(seenSessions, "")
	l.running = len(l.open) > 0
	return slices.Collect(maps.Keys(seenKeys)), slices.Collect(maps.Keys(seenSessions)), l.running
}

// endAll ends the streams of these keys and sessions, and those whose time is over.
func (l *leases) endAll(keys, sessions []string) {
	over := make(map[string]bool, len(keys)+len(sessions)) // no key is the hash of a cookie
	for _, holder := range slices.Concat(keys, sessions) {
		over[holder] = true
	}
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	for one := range l.open {
		if over[one.Key] || over[one.Session] || !one.Ends.IsZero() && !one.Ends.After(now) {
			one.end(errKeyEnded)
		}
	}
}

// endOf returns the error that ended a stream: errKeyEnded if its key did.
func endOf(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), errKeyEnded) {
		return errKeyEnded
	}
	return err
}
