package audit

import (
	"context"
	"sync"
)

// Sink keeps rows. It is called by one goroutine at a time.
type Sink interface {
	// Append returns when the rows survive a loss of power.
	Append(ctx context.Context, rows []Row) error
}

// Recorder takes the rows of requests. Rows that come while a commit runs share the next
// one. It is safe for concurrent use.
type Recorder struct {
	sink Sink
	turn chan struct{} // of 1: full during a commit

	later sync.WaitGroup // commits that nobody waits for

	mu       sync.Mutex
	next     *group // the rows of the next commit; nil = there are none
	finished []Row  // of changes, whose opening rows are in the database
}

// group is what one commit keeps.
type group struct {
	rows []Row
	done chan struct{}
	err  error // to be read once done is closed
}

// NewRecorder returns a Recorder that keeps rows in a sink.
func NewRecorder(sink Sink) *Recorder { return &Recorder{sink: sink, turn: make(chan struct{}, 1)} }

// Record returns when a row is kept. It cannot be canceled: the row of an answer that its
// reader did not wait for is kept all the same.
func (r *Recorder) Record(ctx context.Context, row Row) error {
	r.mu.Lock()
	g := r.next
	leads := g == nil
	if leads {
		g = &group{done: make(chan struct{})}
		r.next = g
	}
	g.rows = append(g.rows, row)
	r.mu.Unlock()
	if leads {
		r.commit(context.WithoutCancel(ctx), g)
	}
	<-g.done
	return g.err
}

// commit keeps a group when the commit before it has ended. Until then others join it.
func (r *Recorder) commit(ctx context.Context, g *group) {
	r.turn <- struct{}{}
	defer func() { <-r.turn }()
	r.mu.Lock()
	r.next = nil
	r.mu.Unlock()
	g.err = r.sink.Append(ctx, g.rows)
	close(g.done)
}

// Buffered is a Sink that takes rows which nobody waits for.
type Buffered interface {
	// Buffer returns when the rows survive the process. A later Append makes them survive a
	// loss of power.
	Buffer(rows []Row) error
}

// Follow takes a row of which the database knows the most important part: the row of its
// request, with the run that has the rest. It returns when the row survives the process, where
// the sink can tell, and does not wait for the commit.
func (r *Recorder) Follow(ctx context.Context, row Row, failed func(error)) {
	ctx = context.WithoutCancel(ctx)
	if buffer, ok := r.sink.(Buffered); ok {
		if err := buffer.Buffer([]Row{row}); err != nil {
			failed(err)
		}
		r.later.Go(func() { _ = r.commitNow(ctx) }) // a later commit of others has the rows too
		return
	}
	r.later.Go(func() {
		if err := r.Record(ctx, row); err != nil {
			failed(err)
		}
	})
}

// commitNow has the rows of Follow committed.
func (r *Recorder) commitNow(ctx context.Context) error {
	r.turn <- struct{}{}
	defer func() { <-r.turn }()
	return r.sink.Append(ctx, nil)
}

// Finish takes the row of a change that has ended. The database has the row that was written
// with the change, so nobody waits: a process that dies before the next Keeper.Keep leaves
// that one.
func (r *Recorder) Finish(row Row) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.finished = append(r.finished, row)
}

// takeFinished returns the rows of Finish and forgets them.
func (r *Recorder) takeFinished() []Row {
	r.mu.Lock()
	defer r.mu.Unlock()
	rows := r.finished
	r.finished = nil
	return rows
}

// returnFinished takes rows back that the Keeper could not store.
func (r *Recorder) returnFinished(rows []Row) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.finished = append(rows, r.finished...)
}
