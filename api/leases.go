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

// leases ends the open streams of keys, JWTs, sessions and members that are no longer valid. Two
// queries a second ask for the keys and the sessions of all of them, and one for the members of
// each workspace.
type leases struct {
	ended func(ctx context.Context, keys, sessions []string) (endedKeys, endedSessions []string, err error)
	left  func(ctx context.Context, workspace string, users []string) ([]string, error) // who is no longer a member
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
		keys, sessions, members, some := l.holders()
		if !some {
			return
		}
		// Every stream that is open waits for it, and none of them is its caller.
		ctx, cancel := context.WithTimeout(context.Background(), leaseInterval)
		endedKeys, endedSessions, err := l.ended(ctx, keys, sessions)
		gone, failure := l.gone(ctx, members)
		cancel()
		err = errors.Join(err, failure)
		if err != nil { // the next round asks again
			l.log.Warn("the keys of open streams cannot be checked", "error", err)
		}
		l.endAll(endedKeys, endedSessions, gone)
	}
}

// gone returns which members are none any more.
func (l *leases) gone(ctx context.Context, members map[string][]string) (map[edge.Member]bool, error) {
	gone := map[edge.Member]bool{}
	var errs []error
	for workspace, users := range members {
		left, err := l.left(ctx, workspace, users)
		errs = append(errs, err)
		for _, user := range left {
			gone[edge.Member{Workspace: workspace, User: user}] = true
		}
	}
	return gone, errors.Join(errs...)
}

// holders returns the keys, the sessions and, by workspace, the members of the open streams. If
// none is open, the caller has to leave.
func (l *leases) holders() (keys, sessions []string, members map[string][]string, some bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	seenKeys, seenSessions, seenMembers := map[string]bool{}, map[string]bool{}, map[edge.Member]bool{}
	for one := range l.open {
		seenKeys[one.Key], seenSessions[one.Session], seenMembers[one.Member] = true, true, true
	}
	delete(seenMembers, edge.Member{})
	members = map[string][]string{}
	for one := range seenMembers {
		members[one.Workspace] = append(members[one.Workspace], one.User)
	}
	delete(seenKeys, "")
	delete(seenSessions, "")
	l.running = len(l.open) > 0
	return slices.Collect(maps.Keys(seenKeys)), slices.Collect(maps.Keys(seenSessions)), members, l.running
}

// endAll ends the streams of these keys, sessions and members, and those whose time is over.
func (l *leases) endAll(keys, sessions []string, members map[edge.Member]bool) {
	over := make(map[string]bool, len(keys)+len(sessions)) // no key is the hash of a cookie
	for _, holder := range slices.Concat(keys, sessions) {
		over[holder] = true
	}
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	for one := range l.open {
		if over[one.Key] || over[one.Session] || members[one.Member] || !one.Ends.IsZero() && !one.Ends.After(now) {
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
