package ingestion

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// pagesEvery is the time between two writes of the pages that an extraction has read. One
// that is shorter writes none.
const pagesEvery = 2 * time.Second

// followPages stores from time to time how many pages of a version were read, until stop is
// called. pages does not block. It is nil if a model looks at the pages afterwards: the
// model makes the stage's progress then.
func (a *reading) followPages(ctx context.Context, v store.Version) (pages func(read, all int), stop func()) {
	if asksForPictures(v) {
		return nil, func() {}
	}
	type count struct{ read, all int }
	var newest atomic.Pointer[count]
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		ticker := time.NewTicker(pagesEvery)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
			}
			if c := newest.Swap(nil); c != nil && c.all > 0 {
				part := float64(c.read) / float64(c.all)
				if err := noteStage(ctx, a.Versions, v.VersionRef, knowledge.StageExtract, part, store.Facts{PageCount: c.all}); err != nil {
					a.Log.WarnContext(ctx, "the pages that were read are not stored", "document", v.Document, "error", err)
				}
			}
		}
	}()
	return func(read, all int) { newest.Store(&count{read, all}) }, func() { close(done); <-stopped }
}
