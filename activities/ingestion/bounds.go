package ingestion

import (
	"cmp"
	"context"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/cairn-rag/cairn/activities/step"
)

// quickEmbeds is how many small documents are embedded in local activities at the
// same time. Local activities hold slots that other steps need, so with a slow model
// activities embed the other documents.
const quickEmbeds = 16

// recordingBytes is how many bytes of recordings are in requests at the same time. The
// client holds each as a whole.
const recordingBytes = 64 << 20

// largeBytes is the default of IngestionConfig.LargeBytes.
const largeBytes = 32 << 20

// bounds limits the concurrent work of the steps of one process. Safe for concurrent
// use.
type bounds struct {
	large *semaphore.Weighted // bytes of originals
	quick *semaphore.Weighted
	limit int64
	heard *semaphore.Weighted // bytes of recordings

	draining context.Context // ends when embeds in local activities have to end
	drain    context.CancelFunc
}

// newBounds returns the bounds of a process that cuts so many bytes of originals at the
// same time, 0 = the default.
func newBounds(limit int64) *bounds {
	b := &bounds{limit: cmp.Or(limit, largeBytes)}
	b.draining, b.drain = context.WithCancel(context.Background()) // ends with Drain
	b.large, b.quick = semaphore.NewWeighted(b.limit), semaphore.NewWeighted(quickEmbeds)
	b.heard = semaphore.NewWeighted(recordingBytes)
	return b
}

// reserve blocks until an original of so many bytes may be cut, or ctx ends.
func (b *bounds) reserve(ctx context.Context, bytes int64) (release func(), err error) {
	bytes = min(bytes, b.limit)
	if err := b.large.Acquire(ctx, bytes); err != nil {
		return nil, err
	}
	return func() { b.large.Release(bytes) }, nil
}

// hear blocks until a recording of so many bytes may be in a request, or ctx ends.
func (b *bounds) hear(ctx context.Context, bytes int64) (release func(), err error) {
	bytes = min(bytes, recordingBytes)
	if err := b.heard.Acquire(ctx, bytes); err != nil {
		return nil, err
	}
	return func() { b.heard.Release(bytes) }, nil
}

// embedQuickly reports whether a local activity may embed one more document. It
// returns the context to do so, which Drain ends with the cause errSlow. The caller
// calls release if ok is true.
func (b *bounds) embedQuickly(ctx context.Context) (quick context.Context, release func(), ok bool) {
	if !b.quick.TryAcquire(1) {
		return nil, nil, false
	}
	quick, cancel := context.WithCancelCause(ctx)
	forget := context.AfterFunc(b.draining, func() { cancel(step.ErrSlow) })
	return quick, func() { forget(); cancel(nil); b.quick.Release(1) }, true
}

// Drain prepares the stop of a worker, which waits for local activities. It blocks
// until those that embed have ended, at most for patience. It then ends the others,
// whose documents activities embed after the next start. Drain is not a method,
// because the worker registers every method as an activity.
func Drain(a *Activities, patience time.Duration) {
	limits := a.Embedding.bounds
	ctx, cancel := context.WithTimeout(context.Background(), patience) // of the stop itself
	defer cancel()
	_ = limits.quick.Acquire(ctx, quickEmbeds) // after the time-out drain ends them
	limits.drain()
}
