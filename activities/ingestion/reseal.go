package ingestion

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/envelope"
)

// Resealing holds the activity that encrypts blobs anew.
type Resealing struct {
	Blobs interface {
		// Reseal encrypts blobs that are not encrypted with the newest data key, from the key
		// after on where the store has an order. It calls each with all blobs.
		Reseal(ctx context.Context, after string, each func(key string, sealed bool) error) error
	}
	Progress interface {
		// Reseal returns how far the blobs are, PutReseal stores it.
		Reseal(ctx context.Context) (envelope.Reseal, error)
		PutReseal(ctx context.Context, r envelope.Reseal) error
	}
	Keys interface {
		// Refresh reads the data keys again.
		Refresh(ctx context.Context) error
		// Active returns the id of the newest data key, "" if nothing is encrypted.
		Active() string
	}
	Log *slog.Logger
}

// ResealResult reports whether blobs may be left that are not encrypted with the newest key: this
// pass has encrypted some, so others may have come behind it, or the key is another one now.
type ResealResult struct {
	Again bool `json:"again,omitempty"`
}

// progressPause is the least time between two writes of how far a pass is.
const progressPause = 2 * time.Second

// ResealBlobs passes once over all blobs and encrypts those anew that are not encrypted with the
// newest data key. A repetition resumes at what is left.
func (a *Resealing) ResealBlobs(ctx context.Context) (ResealResult, error) {
	defer step.Heartbeat(ctx)()
	again, err := a.pass(ctx)
	if err != nil {
		return ResealResult{}, step.Failure(ctx, a.Log, err)
	}
	return ResealResult{Again: again}, nil
}

func (a *Resealing) pass(ctx context.Context) (again bool, err error) {
	if err := a.Keys.Refresh(ctx); err != nil {
		return false, fmt.Errorf("read the data keys: %w", err)
	}
	key := a.Keys.Active()
	if key == "" {
		return false, nil
	}
	r, err := a.Progress.Reseal(ctx)
	if err != nil {
		return false, fmt.Errorf("read how far the blobs are: %w", err)
	}
	if r.DataKey != key || !r.EndedAt.IsZero() {
		r = envelope.Reseal{DataKey: key, BeganAt: time.Now()}
	}
	passed, sealed := r, int64(0)
	passed.Seen = 0 // of this pass
	err = a.Blobs.Reseal(ctx, r.Upto, func(name string, changed bool) error {
		passed.Seen++
		passed.Upto = name
		if changed {
			passed.Sealed++
			sealed++
		}
		if time.Since(passed.UpdatedAt) < progressPause {
			return ctx.Err()
		}
		passed.UpdatedAt = time.Now()
		return a.Progress.PutReseal(ctx, passed)
	})
	if err != nil {
		return false, err
	}
	again = sealed > 0 || r.Upto != "" || a.Keys.Active() != key
	passed.Upto, passed.UpdatedAt = "", time.Now()
	if !again {
		passed.EndedAt = passed.UpdatedAt
	}
	return again, a.Progress.PutReseal(ctx, passed)
}
