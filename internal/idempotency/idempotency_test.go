package idempotency_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-rag/cairn/internal/idempotency"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// keys keeps keys in memory.
type keys map[string]*store.IdempotencyRecord

// ClaimKey implements idempotency.Store.
func (k keys) ClaimKey(_ context.Context, key store.IdempotencyKey) (*store.IdempotencyRecord, error) {
	if existing := k[key.Key]; existing != nil {
		return existing, nil
	}
	k[key.Key] = &store.IdempotencyRecord{Route: key.Route, BodyHash: key.BodyHash, RunID: key.RunID}
	return nil, nil
}

// HoldKey implements idempotency.Store.
func (keys) HoldKey(context.Context, store.IdempotencyKey) error {
	return errors.New("a process that is alone writes no leases")
}

// ReleaseKey implements idempotency.Store.
func (k keys) ReleaseKey(_ context.Context, _, _, key string) error {
	delete(k, key)
	return nil
}

// StoreResponse implements idempotency.Store.
func (k keys) StoreResponse(_ context.Context, _, _, key string, status int, contentType string, response []byte) error {
	if k[key] == nil {
		return errors.New("this key is not claimed")
	}
	k[key].Status, k[key].ContentType, k[key].Response = status, contentType, response
	return nil
}

func request() idempotency.Request {
	return idempotency.Request{Key: "k", Route: "POST /x", Hash: idempotency.Hash([]byte("one"))}
}

func claim(t *testing.T, k *idempotency.Keys, r idempotency.Request) *idempotency.Claim {
	t.Helper()
	c, err := k.Claim(t.Context(), knowledge.Principal{}, r)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestClaim(t *testing.T) {
	t.Parallel()
	k := idempotency.New(keys{}, "", time.Now)
	first := claim(t, k, request())
	if first.Repeated || first.Earlier != nil {
		t.Errorf("first: %+v", first)
	}
	first.Leave()
	again := claim(t, k, request())
	if !again.Repeated || again.Run != first.Run || again.Earlier != nil {
		t.Errorf("before there is an answer: %+v", again)
	}
	if err := again.Answer(t.Context(), 202, "text/plain", []byte("done")); err != nil {
		t.Fatal(err)
	}
	again.Leave()
	answered := claim(t, k, request())
	if answered.Earlier == nil || string(answered.Earlier.Response) != "done" {
		t.Errorf("behind the answer: %+v", answered)
	}
	if err := answered.Free(t.Context()); err != nil {
		t.Fatal(err)
	}
	answered.Leave()
	if next := claim(t, k, request()); next.Repeated || next.Run == first.Run {
		t.Errorf("behind its release: %+v", next)
	}
}

func TestClaimOfAnotherRequest(t *testing.T) {
	t.Parallel()
	k := idempotency.New(keys{}, "", time.Now)
	claim(t, k, request()).Leave()
	for range 2 { // the refusal holds nothing
		other := request()
		other.Hash = idempotency.Hash([]byte("two"))
		if _, err := k.Claim(t.Context(), knowledge.Principal{}, other); !knowledge.IsCode(err, knowledge.CodeConflict) {
			t.Errorf("%v", err)
		}
	}
}

func TestClaimWithoutAKey(t *testing.T) {
	t.Parallel()
	stored := keys{}
	k := idempotency.New(stored, "", time.Now)
	first, second := claim(t, k, idempotency.Request{}), claim(t, k, idempotency.Request{})
	if err := errors.Join(first.Answer(t.Context(), 200, "", nil), first.Free(t.Context())); err != nil {
		t.Error(err)
	}
	if first.Run == second.Run || len(stored) != 0 {
		t.Errorf("%+v, %+v, stored %v", first, second, stored)
	}
}

// TestClaimWaits: a second request with the same key waits for the first, or
// until its client leaves.
func TestClaimWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := idempotency.New(keys{}, "", time.Now)
		first := claim(t, k, request())
		left, leave := context.WithCancel(t.Context())
		leave()
		if _, err := k.Claim(left, knowledge.Principal{}, request()); !errors.Is(err, context.Canceled) {
			t.Errorf("a client that left: %v", err)
		}
		second := make(chan *idempotency.Claim)
		go func() {
			c, err := k.Claim(t.Context(), knowledge.Principal{}, request())
			if err != nil {
				t.Error(err)
			}
			second <- c
		}()
		synctest.Wait()
		select {
		case <-second:
			t.Error("the second request did not wait")
		default:
		}
		first.Leave()
		if c := <-second; !c.Repeated {
			t.Errorf("%+v", c)
		}
	})
}
