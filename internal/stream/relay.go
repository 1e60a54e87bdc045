package stream

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"
)

// RunRef names a run and the workflow that holds its log.
type RunRef struct {
	Workspace   string
	Run         string
	WorkflowID  string
	FirstOffset int64 // where the run's items begin in the workflow's log
}

// Source reads the log of a run from where it is durable.
type Source interface {
	// Stored returns the whole log of a run that has ended. ok is false while the
	// run has not ended.
	Stored(ctx context.Context, run RunRef) (items []Item, ok bool, err error)
	// Query returns the items of a running run from an offset on, the items of stored
	// segments included. Each call takes a turn of the workflow's worker.
	Query(ctx context.Context, run RunRef, from int64) (EventsPage, error)
	// Settle repairs a run that has not ended in SQL although Query failed or the
	// workflow is closed. If the workflow can no longer end the run (it was
	// terminated, timed out or failed), Settle stores the log and ends the run. If
	// a question has no workflow, Settle starts it.
	Settle(ctx context.Context, run RunRef) error
}

// Relay reads the log of each run once per process, for any number of clients.
// Clients read from shared memory at their own pace, so a slow client delays no
// other. Safe for concurrent use.
type Relay struct {
	source  Source
	hub     *Hub
	hubless bool // nothing is published in this process

	mu        sync.Mutex
	followers map[string]*follower
}

// NewRelay returns a relay for a process whose worker publishes to the hub.
func NewRelay(source Source, hub *Hub) *Relay {
	return &Relay{source: source, hub: hub, followers: map[string]*follower{}}
}

// NewRelayWithoutHub returns a relay for a process in which nothing is published. It
// queries the logs more often.
func NewRelayWithoutHub(source Source) *Relay {
	r := NewRelay(source, NewHub())
	r.hubless = true
	return r
}

// follower is the one reader of a run in this process.
type follower struct {
	clients int
	cancel  context.CancelFunc

	mu      sync.Mutex
	items   []Item // from the run's first offset on
	err     error
	ended   bool
	changed chan struct{}
}

// Reader reads the items of one run for one client. It is used by one goroutine.
type Reader struct {
	relay    *Relay
	run      RunRef
	follower *follower
	next     int64 // offset in the workflow's log
}

// Open returns a reader of the items of a run from an offset of the workflow's log on. The
// caller closes it.
func (r *Relay) Open(run RunRef, from int64) *Reader {
	return &Reader{relay: r, run: run, follower: r.join(run, false), next: max(from, run.FirstOffset)}
}

// Next returns the next items that are known, without blocking. If there are none, ended
// reports that none will come, and else changed is closed when that may have changed. An
// error means that the log cannot be read.
func (r *Reader) Next() (items []Item, ended bool, changed <-chan struct{}, err error) {
	items, ended, changed, err = r.follower.since(r.next - r.run.FirstOffset)
	if n := len(items); n > 0 {
		r.next = items[n-1].Offset + 1
		return items, false, changed, nil
	}
	return nil, ended, changed, err
}

// Close ends the reader. The last one of a run ends its follower.
func (r *Reader) Close() { r.relay.leave(r.run, r.follower) }

// Items yields the items of a run from an offset of the workflow's log on, and
// blocks for more until the last one. It yields an error and ends when ctx ends or
// the log cannot be read.
func (r *Relay) Items(ctx context.Context, run RunRef, from int64) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		reader := r.Open(run, from)
		defer reader.Close()
		for {
			items, ended, changed, err := reader.Next()
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
			}
			switch {
			case len(items) > 0:
				continue
			case err != nil:
				yield(Item{}, err)
				return
			case ended:
				return
			}
			select {
			case <-changed:
			case <-ctx.Done():
				yield(Item{}, ctx.Err())
				return
			}
		}
	}
}

// Prime follows a run whose workflow is about to start, until stop is called. It
// passes the run's first items, which the workflow's input determines, to readers. words
// says that the words of a model come next, through the hub.
func (r *Relay) Prime(run RunRef, first []Item, words bool) (stop func()) {
	f := r.join(run, words, first...)
	return sync.OnceFunc(func() { r.leave(run, f) })
}

func (r *Relay) join(run RunRef, words bool, first ...Item) *follower {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.followers[run.Run]
	if f == nil {
		// The follower ends with the last client, not with the first one's context.
		ctx, cancel := context.WithCancel(context.Background())
		f = &follower{items: first, cancel: cancel, changed: make(chan struct{})}
		r.followers[run.Run] = f
		stop := r.hub.Follow(run.Run)
		go func() {
			defer stop()
			f.run(ctx, r.source, r.hub, run, newPace(r.hubless, len(first) > 0, words))
		}()
	}
	f.clients++
	return f
}

func (r *Relay) leave(run RunRef, f *follower) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f.clients--; f.clients == 0 {
		f.cancel()
		delete(r.followers, run.Run)
	}
}

func (f *follower) since(index int64) ([]Item, bool, <-chan struct{}, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if index < int64(len(f.items)) {
		return f.items[index:], false, f.changed, nil
	}
	return nil, f.ended, f.changed, f.err
}

// add appends the items that continue the log, and reports whether it has ended.
func (f *follower) add(first int64, items []Item) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	grew := false
	for _, item := range items {
		if item.Offset != first+int64(len(f.items)) || f.ended {
			continue
		}
		f.items = append(f.items, item)
		grew = true
		f.ended = Terminal(item.Topic)
	}
	if grew {
		f.wake()
	}
	return f.ended
}

func (f *follower) end(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err, f.ended = err, true
	f.wake()
}

func (f *follower) wake() {
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *follower) next(first int64) int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return first + int64(len(f.items))
}

// run reads the log until its last item. It takes the next items from the hub if
// it has them, else from the store if the run has ended, else by query.
func (f *follower) run(ctx context.Context, source Source, hub *Hub, run RunRef, pace pace) {
	publishing := false
	failures := 0 // consecutive
	for ctx.Err() == nil {
		items, _, gap, changed := hub.Since(run.Run, f.next(run.FirstOffset))
		// Publishing is read after Since, so that a later change closes changed.
		if now := hub.Publishing(run.Run); len(items) > 0 || now != publishing {
			if f.add(run.FirstOffset, items) {
				return
			}
			failures, publishing = 0, now
			pace.published(publishing)
			continue
		}
		if !gap && pace.poll > 0 && !wait(ctx, changed, pace.poll) {
			continue
		}
		if gap {
			changed = nil // later items of the hub do not fill the gap
		}
		grew, err := f.read(ctx, source, run, changed)
		switch {
		case f.done():
			return
		case err != nil:
			if failures++; failures > 60 {
				f.end(fmt.Errorf("read the log of run %s: %w", run.Run, err))
				return
			}
		case grew:
			failures = 0
			pace.grew()
			continue
		default:
			failures = 0
		}
		pace.idle()
		if gap {
			wait(ctx, nil, pollFirst)
		}
	}
}

// read reads the log from the store or by query, and reports whether it found new
// items. It interrupts the query when changed is closed: a busy worker may take
// seconds to answer, for example while the workflow ends.
func (f *follower) read(ctx context.Context, source Source, run RunRef, changed <-chan struct{}) (grew bool, err error) {
	items, ok, err := source.Stored(ctx, run)
	if err != nil {
		return false, err
	}
	if ok {
		f.add(run.FirstOffset, items)
		f.end(nil)
		return true, nil
	}
	from := f.next(run.FirstOffset)
	queryCtx, stop := untilClosed(ctx, changed)
	page, err := source.Query(queryCtx, run, from)
	interrupted := queryCtx.Err() != nil
	stop()
	if err != nil || page.Closed {
		if interrupted {
			return false, ctx.Err()
		}
		if settleErr := source.Settle(ctx, run); settleErr != nil {
			return false, fmt.Errorf("settle run %s: %w", run.Run, settleErr)
		}
	}
	f.add(run.FirstOffset, page.Items)
	return len(page.Items) > 0, err
}

// untilClosed returns a context that also ends when changed is closed.
func untilClosed(ctx context.Context, changed <-chan struct{}) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-changed:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

func (f *follower) done() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ended
}

// wait blocks for d and returns true. It returns false at once when changed is
// closed or ctx ends.
func wait(ctx context.Context, changed <-chan struct{}, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-changed:
		return false
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
