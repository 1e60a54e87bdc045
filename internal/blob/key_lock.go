package blob

import (
	"context"
	"sync"
)

// keyLocks lets one writer at a time replace the blob under a key. Two at once
// could each remove, from the place that it does not write to, what the other has
// just stored there.
type keyLocks struct {
	mu     sync.Mutex
	locked map[string]chan struct{} // closed at the unlock
}

// lock blocks until it has all keys or ctx ends. While it waits it holds none of
// them, so callers that share keys do not block each other for ever. A key may be
// given twice.
func (l *keyLocks) lock(ctx context.Context, keys ...string) (unlock func(), err error) {
	for {
		held := l.tryLock(keys)
		if held == nil {
			return func() { l.unlock(keys) }, nil
		}
		select {
		case <-held:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// tryLock locks all keys and returns nil. If one is held, it locks none and returns
// the channel that is closed at that key's unlock.
func (l *keyLocks) tryLock(keys []string) (held <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, key := range keys {
		if held, ok := l.locked[key]; ok {
			return held
		}
	}
	if l.locked == nil {
		l.locked = map[string]chan struct{}{}
	}
	mine := make(chan struct{})
	for _, key := range keys {
		l.locked[key] = mine
	}
	return nil
}

func (l *keyLocks) unlock(keys []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.locked[keys[0]])
	for _, key := range keys {
		delete(l.locked, key)
	}
}
