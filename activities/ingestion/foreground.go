package ingestion

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"
)

// The bounds of giving way.
const (
	// foregroundPause is longer than the time between two steps of a question, or of
	// an upload.
	foregroundPause = 30 * time.Millisecond
	// batchPatience is how long a batch of an import gives way in all, so that an
	// import continues although somebody asks or uploads all the time.
	batchPatience = time.Second
)

// Foreground lets imports give way to what people wait for: questions and uploads. They
// would share the processors and the databases with two or three batches of an import
// otherwise. Safe for concurrent use.
type Foreground struct {
	// Others shares the time of the last step between the processes that work on one
	// data folder. Times are in nanoseconds since 1970. Defaults to none.
	Others interface {
		// TellStep tells the other processes of a step of this one.
		TellStep(at int64)
		// LastStep returns the time of the step that a process has told of last.
		LastStep() int64
	}

	last atomic.Int64 // when a step of this process began or ended
}

// Note notes that a step of a question or of an upload begins or ends.
func (f *Foreground) Note() {
	now := time.Now().UnixNano()
	f.last.Store(now)
	if f.Others != nil {
		f.Others.TellStep(now)
	}
}

// lastStep returns when a step of any process began or ended.
func (f *Foreground) lastStep() int64 {
	if f.Others == nil {
		return f.last.Load()
	}
	return max(f.last.Load(), f.Others.LastStep())
}

// Handler notes each request of next that may begin a question or an upload.
func (f *Foreground) Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			f.Note()
		}
		next.ServeHTTP(w, r)
	})
}

// GiveWay blocks while steps of questions or uploads follow each other, but not longer
// than patience, and returns the patience that is left.
func (f *Foreground) GiveWay(ctx context.Context, patience time.Duration) time.Duration {
	if f == nil {
		return patience
	}
	for patience > 0 && ctx.Err() == nil {
		wait := foregroundPause - time.Duration(time.Now().UnixNano()-f.lastStep())
		if wait <= 0 {
			break
		}
		wait = min(wait, patience, foregroundPause)
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
		patience -= wait
	}
	return patience
}
