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

// lock blocks until it has the key or ctx ends.
func (l *keyLocks) lock(ctx context.Context, key string) (unlock func(), err error) {
	for {
		held, ok := l.tryLock(key)
		if ok {
			return func() { l.unlock(key) }, nil
		}
		select {
		case <-held:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (l *keyLocks) tryLock(key string) (held <-chan struct{}, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if held, ok := l.locked[key]; ok {
		return held, false
	}
	if l.locked == nil {
		l.locked = map[string]chan struct{}{}
	}
	l.locked[key] = make(chan struct{})
	return nil, true
}

func (l *keyLocks) unlock(key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.locked[key])
	delete(l.locked, key)
}
