package idempotency_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-rag/cairn/internal/idempotency"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// shared keeps the keys of several processes, with their leases.
type shared struct {
	mu     sync.Mutex
	keys   keys
	leases map[string]store.IdempotencyKey
	dead   map[string]bool // processes whose writes no longer arrive
}

func newShared() *shared {
	return &shared{keys: keys{}, leases: map[string]store.IdempotencyKey{}, dead: map[string]bool{}}
}

// ClaimKey implements idempotency.Store.
func (s *shared) ClaimKey(ctx context.Context, k store.IdempotencyKey) (*store.IdempotencyRecord, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	existing, err := s.keys.ClaimKey(ctx, k)
	lease, leased := s.leases[k.Key]
	if existing != nil && existing.Status == 0 && leased && lease.Owner != k.Owner && k.Now.Before(lease.LeasedUntil) {
		held := *existing
		held.Held, held.LeasedUntil = true, lease.LeasedUntil
		return &held, err
	}
	s.leases[k.Key] = k
	return existing, err
}

// HoldKey implements idempotency.Store.
func (s *shared) HoldKey(_ context.Context, k store.IdempotencyKey) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leases[k.Key].Owner == k.Owner && !s.dead[k.Owner] {
		s.leases[k.Key] = k
	}
	return nil
}

// ReleaseKey implements idempotency.Store.
func (s *shared) ReleaseKey(ctx context.Context, workspace, caller, key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.leases, key)
	return s.keys.ReleaseKey(ctx, workspace, caller, key)
}

// StoreResponse implements idempotency.Store.
func (s *shared) StoreResponse(ctx context.Context, workspace, caller, key string, status int, contentType string, response []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.leases, key)
	return s.keys.StoreResponse(ctx, workspace, caller, key, status, contentType, response)
}

// TestLease claims a key in one process while a request of another one holds it. Each
// case ends that request after a minute.
func TestLease(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		end      func(t *testing.T, s *shared, c *idempotency.Claim)
		answered bool
		least    time.Duration // that the second request waits
		most     time.Duration
	}{
		"a request that runs is waited for, however long it takes": {
			end: func(t *testing.T, _ *shared, c *idempotency.Claim) {
				if err := c.Answer(t.Context(), 200, "", nil); err != nil {
					t.Error(err)
				}
			}, answered: true, least: time.Minute, most: time.Minute + time.Second,
		},
		"a request that leaves without an answer ends its lease": {
			end: func(*testing.T, *shared, *idempotency.Claim) {}, least: time.Minute, most: time.Minute + time.Second,
		},
		"a process that died is waited for until its lease expires": {
			end:   func(_ *testing.T, s *shared, _ *idempotency.Claim) { s.mu.Lock(); s.dead["a"] = true; s.mu.Unlock() },
			least: time.Minute + 5*time.Second, most: time.Minute + 16*time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newShared()
				first := claim(t, idempotency.New(s, "a", time.Now), request())
				start := time.Now()
				go func() {
					time.Sleep(time.Minute)
					c.end(t, s, first)
					first.Leave()
				}()
				second := claim(t, idempotency.New(s, "b", time.Now), request())
				if waited := time.Since(start); waited < c.least || waited > c.most {
					t.Errorf("the second request waited for %v", waited)
				}
				if !second.Repeated || second.Run != first.Run || (second.Earlier != nil) != c.answered {
					t.Errorf("%+v", second)
				}
				second.Leave()
			})
		})
	}
}

// TestLeaseOfTheSameProcess repeats a request whose first one left without an answer.
func TestLeaseOfTheSameProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newShared()
		k := idempotency.New(s, "a", time.Now)
		start := time.Now()
		for range 3 {
			claim(t, k, request()).Leave()
		}
		if waited := time.Since(start); waited != 0 {
			t.Errorf("they waited for %v", waited)
		}
		synctest.Wait()
		if lease := s.leases["k"]; !lease.LeasedUntil.IsZero() {
			t.Errorf("a lease is left: %+v", lease)
		}
	})
}

// TestLeaseOfAnotherRequest refuses another request under a held key at once.
func TestLeaseOfAnotherRequest(t *testing.T) {
	t.Parallel()
	s := newShared()
	first := claim(t, idempotency.New(s, "a", time.Now), request())
	if err := first.Answer(t.Context(), 200, "", nil); err != nil {
		t.Fatal(err)
	}
	first.Leave()
	other := request()
	other.Hash = "other"
	if _, err := idempotency.New(s, "b", time.Now).Claim(t.Context(), knowledge.Principal{}, other); !knowledge.IsCode(err, knowledge.CodeConflict) {
		t.Errorf("%v", err)
	}
}
