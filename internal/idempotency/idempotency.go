// Package idempotency holds the Idempotency-Keys of requests: a request that is
// repeated under its key finds the run that the first one began, and the answer
// that was stored for it. It knows nothing of how requests arrive.
package idempotency

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// maxKey bounds an Idempotency-Key, in bytes.
const maxKey = 255

// Store keeps the keys for 24 hours.
type Store interface {
	// ClaimKey claims a key and returns nil, or returns the record of the request
	// that claimed it before. Of several callers at once exactly one gets nil. A record
	// that is not held by another process is leased to k.Owner.
	ClaimKey(ctx context.Context, k store.IdempotencyKey) (*store.IdempotencyRecord, error)
	// HoldKey sets the end of a process's lease of a key; the zero time ends it now. It
	// changes nothing if the process has no lease of the key.
	HoldKey(ctx context.Context, k store.IdempotencyKey) error
	// ReleaseKey frees a key. Releasing one that is not claimed does nothing.
	ReleaseKey(ctx context.Context, workspace, caller, key string) error
	// StoreResponse keeps the answer to the request that claimed the key. It
	// replaces an earlier one; a key that is not claimed is CodeNotFound.
	StoreResponse(ctx context.Context, workspace, caller, key string, status int, contentType string, response []byte) error
}

// Request is what makes two requests the same.
type Request struct {
	Key   string // "" = the caller sent none
	Route string // method, path and query, or another name of the operation
	Hash  string // of the body, by Hash
}

// Keys claims keys. Two requests with the same key run one after the other: requests in
// this process by a lock in memory, requests in several processes by a lease in the store.
// Safe for concurrent use.
type Keys struct {
	store   Store
	process string
	now     func() time.Time

	mu   sync.Mutex
	held map[string]chan struct{} // closed when the request that holds the key ends
}

// New returns Keys that are kept in s. process names this process among those that serve
// requests over the same store; "" = it is the only one, and writes no leases.
func New(s Store, process string, now func() time.Time) *Keys {
	return &Keys{store: s, process: process, now: now, held: map[string]chan struct{}{}}
}

// Claim is a request's hold of its key. Without a key nothing is held or stored.
type Claim struct {
	// Run is the id for the first run that the request starts: the same one when
	// the request is repeated.
	Run string
	// Repeated reports that an earlier request with this key began. Run finds its
	// results.
	Repeated bool
	// Earlier is the answer to that request, nil if its process died before it
	// answered.
	Earlier *store.IdempotencyRecord

	keys                   *Keys
	workspace, caller, key string
	leave                  func()
	settled                bool // the key is answered or free, and has no lease
}

// Claim claims the key of a request for p. It blocks while another request holds the
// key, for a process that died until its lease expires; the caller calls Leave when the request ends. A
// key that is not printable ASCII is CodeInvalid, and one that was used with
// another request is CodeConflict.
func (k *Keys) Claim(ctx context.Context, p knowledge.Principal, r Request) (*Claim, error) {
	c := &Claim{Run: knowledge.NewID(), leave: func() {}}
	if r.Key == "" {
		return c, nil
	}
	if len(r.Key) > maxKey || strings.ContainsFunc(r.Key, func(c rune) bool { return c < ' ' || c > '~' }) {
		return nil, knowledge.Invalid("header.Idempotency-Key", "must be at most %d printable ASCII characters", maxKey)
	}
	c.keys, c.workspace, c.caller, c.key = k, p.Workspace(), Caller(p), r.Key
	var err error
	if c.leave, err = k.enter(ctx, c.workspace+"\n"+c.caller+"\n"+c.key); err != nil {
		return nil, fmt.Errorf("wait for a request with the same Idempotency-Key: %w", err)
	}
	existing, err := k.claim(ctx, store.IdempotencyKey{
		Workspace: c.workspace, Caller: c.caller, Key: c.key, Route: r.Route, BodyHash: r.Hash, RunID: c.Run, Owner: k.process,
	})
	switch {
	case err != nil:
		err = fmt.Errorf("claim Idempotency-Key: %w", err)
	case existing == nil:
		c.hold(ctx)
		return c, nil
	case existing.Route != r.Route || existing.BodyHash != r.Hash:
		err = knowledge.Errorf(knowledge.CodeConflict, "this Idempotency-Key was used with another request; take a new key")
	default:
		c.Run, c.Repeated = existing.RunID, true
		if existing.Status != 0 {
			c.Earlier = existing
			return c, nil
		}
		c.hold(ctx)
		return c, nil
	}
	c.leave()
	return nil, err
}

// Leave lets the next request with the same key begin.
func (c *Claim) Leave() { c.leave() }

// Free releases the key, so that the request can be sent again.
func (c *Claim) Free(ctx context.Context) error {
	if c.key == "" {
		return nil
	}
	if err := c.keys.store.ReleaseKey(ctx, c.workspace, c.caller, c.key); err != nil {
		return fmt.Errorf("release Idempotency-Key: %w", err)
	}
	c.settled = true
	return nil
}

// Answer stores what the request was answered, for its repetitions.
func (c *Claim) Answer(ctx context.Context, status int, contentType string, body []byte) error {
	if c.key == "" {
		return nil
	}
	if err := c.keys.store.StoreResponse(ctx, c.workspace, c.caller, c.key, status, contentType, body); err != nil {
		return fmt.Errorf("store the answer of an Idempotency-Key: %w", err)
	}
	c.settled = true
	return nil
}

// Caller names the owner of an Idempotency-Key: the API key, or the token's
// user, within the project and for the user that it acts for. Two API keys that
// act for the same user are two callers, who may see different things.
func Caller(p knowledge.Principal) string {
	return strings.Join([]string{p.KeyID(), p.Project(), p.User(), p.ExternalUser()}, "\n")
}

// Hash returns the hash of a body in hexadecimal.
func Hash(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// enter blocks until no other request holds the key; leave releases it.
func (k *Keys) enter(ctx context.Context, key string) (leave func(), err error) {
	for {
		k.mu.Lock()
		other, busy := k.held[key]
		if !busy {
			mine := make(chan struct{})
			k.held[key] = mine
			k.mu.Unlock()
			return sync.OnceFunc(func() {
				k.mu.Lock()
				defer k.mu.Unlock()
				delete(k.held, key)
				close(mine)
			}), nil
		}
		k.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
