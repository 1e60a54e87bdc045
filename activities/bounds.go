package activities

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// quickEmbeds is how many small documents are embedded at the same time in local
// activities. These hold slots that other steps need, so with a slow model the
// other documents are embedded by activities of their own.
const quickEmbeds = 16

// largeBytes is the default of IngestionConfig.LargeBytes.
const largeBytes = 32 << 20

// bounds limits what the steps of one process do at the same time. Its zero value
// is ready to use.
type bounds struct {
	once  sync.Once
	large *semaphore.Weighted // bytes of originals
	quick *semaphore.Weighted
	limit int64

	draining context.Context // ends when quick embeds are to be given up
	drain    context.CancelFunc
}

func (b *bounds) prepare(limit int64) {
	b.once.Do(func() {
		if limit == 0 {
			limit = largeBytes
		}
		b.draining, b.drain = context.WithCancel(context.Background()) // ends with Drain
		b.limit, b.large, b.quick = limit, semaphore.NewWeighted(limit), semaphore.NewWeighted(quickEmbeds)
	})
}

// reserve waits until an original of so many bytes may be cut.
func (b *bounds) reserve(ctx context.Context, bytes, limit int64) (release func(), err error) {
	b.prepare(limit)
	bytes = min(bytes, b.limit)
	if err := b.large.Acquire(ctx, bytes); err != nil {
		return nil, err
	}
	return func() { b.large.Release(bytes) }, nil
}

// embedQuickly reports whether one more document may be embedded in a local
// activity. The context that it returns ends when the process stops.
func (b *bounds) embedQuickly(ctx context.Context, limit int64) (quick context.Context, release func(), ok bool) {
	b.prepare(limit)
	if !b.quick.TryAcquire(1) {
		return nil, nil, false
	}
	quick, cancel := context.WithCancelCause(ctx)
	forget := context.AfterFunc(b.draining, func() { cancel(errSlow) })
	return quick, func() { forget(); cancel(nil); b.quick.Release(1) }, true
}

// Drain is for the stop of a process, whose worker waits for local activities: it
// lets those end that embed, for so long, and then leaves their documents to
// activities of their own. (A method would be registered as an activity.)
func Drain(a *Ingestion, patience time.Duration) {
	a.bounds.prepare(a.Config.LargeBytes)
	ctx, cancel := context.WithTimeout(context.Background(), patience) // of the stop itself
	defer cancel()
	_ = a.bounds.quick.Acquire(ctx, quickEmbeds) // the time-out is what drain is for
	a.bounds.drain()
}
