package access

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/cairn-rag/cairn/internal/store"
)

// usesInterval is how often the last uses of keys are stored, all of them in one transaction.
const usesInterval = 2 * time.Second

// uses notes when keys are used, each at most once in store.UsedStep. It is safe for
// concurrent use.
type uses struct {
	mu      sync.Mutex
	noted   map[string]time.Time // of each key, what is stored or will be next
	waiting map[string]time.Time // what is not stored yet
}

// note marks a key as used now.
func (u *uses) note(key string, now time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if now.Sub(u.noted[key]) < store.UsedStep {
		return
	}
	if u.noted == nil || len(u.noted) >= maxDirectory {
		u.noted = map[string]time.Time{}
	}
	if u.waiting == nil {
		u.waiting = map[string]time.Time{}
	}
	u.noted[key], u.waiting[key] = now, now
}

// take returns what is not stored yet, and leaves nothing.
func (u *uses) take() map[string]time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	taken := u.waiting
	u.waiting = nil
	return taken
}

// StoreUses stores when keys were used, every two seconds until ctx ends, and then the rest. A
// failure is logged, and costs the times that were to be stored.
func (a *Authenticator) StoreUses(ctx context.Context, log *slog.Logger) {
	tick := time.NewTicker(usesInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), usesInterval)
			defer cancel()
			a.storeUses(last, log)
			return
		case <-tick.C:
			a.storeUses(ctx, log)
		}
	}
}

func (a *Authenticator) storeUses(ctx context.Context, log *slog.Logger) {
	used := a.uses.take()
	if len(used) == 0 {
		return
	}
	if err := a.store.MarkKeysUsed(ctx, used); err != nil {
		log.WarnContext(ctx, "the last use of keys cannot be stored", "keys", len(used), "error", err)
	}
}
