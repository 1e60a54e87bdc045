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
	// Stored gives the whole log of a run that has ended; ok is false while it
	// has not.
	Stored(ctx context.Context, run RunRef) (items []Item, ok bool, err error)
	// Query gives the items of a running run from an offset on, older segments
	// included. It is cheap, but not free: it makes a worker look.
	Query(ctx context.Context, run RunRef, from int64) (EventsPage, error)
	// Settle is called when Query failed or the workflow has closed while the
	// run is not ended in SQL: where the workflow will never end the run itself
	// (terminated, timed out, failed), it stores the log and ends the run. A
	// question that has no workflow yet gets one.
	Settle(ctx context.Context, run RunRef) error
}

// The relay reads a log by query at these intervals while nothing tells it that
// there is news. A query takes a turn of the workflow's worker, in which it serves
// no workflow: with many readers, queries delay the words that they ask for. So a
// run whose words come through the hub is hardly ever queried.
const (
	pollFirst  = 50 * time.Millisecond
	pollLast   = 500 * time.Millisecond
	pollPrimed = 2 * time.Second  // its model call is about to begin in this process
	pollFed    = 10 * time.Second // a publisher in this process writes it now
)

// Relay follows runs: one reader a run and process, however many clients. Its
// clients read from shared memory at their own pace, so a slow one holds nobody.
// Safe for concurrent use.
type Relay struct {
	source Source
	hub    *Hub

	mu        sync.Mutex
	followers map[string]*follower
}

// NewRelay makes a relay. The hub may have no publisher in this process.
func NewRelay(source Source, hub *Hub) *Relay {
	return &Relay{source: source, hub: hub, followers: map[string]*follower{}}
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

// Items yields the items of a run from the offset on (counted in the workflow's
// log) and follows it until its last one. It ends early with an error when ctx
// ends or the log cannot be read.
func (r *Relay) Items(ctx context.Context, run RunRef, from int64) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		f := r.join(run)
		defer r.leave(run, f)
		next := max(from, run.FirstOffset)
		for {
			items, ended, changed, err := f.since(next - run.FirstOffset)
			for _, item := range items {
				if !yield(item, nil) {
					return
				}
				next = item.Offset + 1
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

// Prime starts to follow a run whose workflow is about to start, and gives the
// readers its first items, which the workflow's input determines. The run stays
// followed until stop is called.
func (r *Relay) Prime(run RunRef, first []Item) (stop func()) {
	f := r.join(run, first...)
	return sync.OnceFunc(func() { r.leave(run, f) })
}

func (r *Relay) join(run RunRef, first ...Item) *follower {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := r.followers[run.Run]
	if f == nil {
		// Ends with the last of its clients, not with the first.
		ctx, cancel := context.WithCancel(context.Background())
		f = &follower{items: first, cancel: cancel, changed: make(chan struct{})}
		r.followers[run.Run] = f
		stop := r.hub.Follow(run.Run)
		go func() {
			defer stop()
			f.run(ctx, r.source, r.hub, run)
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

// add keeps the items that continue the log and reports whether it has ended.
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

// run reads the log until its last item: from the store if the run has ended,
// else from the hub while it has what comes next, else by query.
func (f *follower) run(ctx context.Context, source Source, hub *Hub, run RunRef) {
	poll, limit, fed := time.Duration(0), pollLast, false
	if f.next(run.FirstOffset) > run.FirstOffset {
		poll, limit = pollPrimed, pollPrimed
	}
	failures := 0 // of looks, one after the other
	for ctx.Err() == nil {
		items, _, gap, changed := hub.Since(run.Run, f.next(run.FirstOffset))
		if now := hub.Fed(run.Run); len(items) > 0 || now != fed { // in this order: a later change closes changed
			if f.add(run.FirstOffset, items) {
				return
			}
			failures = 0
			if fed, poll, limit = now, pollFirst, pollLast; fed {
				poll, limit = pollFed, pollFed
			}
			continue
		}
		if !gap && poll > 0 && !wait(ctx, changed, poll) {
			continue
		}
		if gap {
			changed = nil // what it will have next is not what is missing
		}
		grew, err := f.look(ctx, source, run, changed)
		switch {
		case f.done():
			return
		case err != nil:
			if failures++; failures > 60 {
				f.end(fmt.Errorf("read the log of run %s: %w", run.Run, err))
				return
			}
		case grew:
			failures, poll = 0, pollFirst
			continue
		default:
			failures = 0
		}
		poll = min(max(poll*2, pollFirst), limit)
		if gap {
			wait(ctx, nil, pollFirst)
		}
	}
}

// look reads the log from the store or by query. A query is given up once there
// is news: it is not answered while the workflow's worker is busy, for seconds
// where the workflow ends meanwhile.
func (f *follower) look(ctx context.Context, source Source, run RunRef, news <-chan struct{}) (grew bool, err error) {
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
	asking, stop := untilNews(ctx, news)
	page, err := source.Query(asking, run, from)
	gaveUp := asking.Err() != nil
	stop()
	if err != nil || page.Closed {
		if gaveUp {
			return false, ctx.Err()
		}
		if settleErr := source.Settle(ctx, run); settleErr != nil {
			return false, fmt.Errorf("settle run %s: %w", run.Run, settleErr)
		}
	}
	f.add(run.FirstOffset, page.Items)
	return len(page.Items) > 0, err
}

// untilNews gives a context that also ends when there is news.
func untilNews(ctx context.Context, news <-chan struct{}) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-news:
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

// wait returns true when it is time to look, false when the hub has news or ctx
// has ended.
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
