package api

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// maxIdempotencyKey bounds an Idempotency-Key, in bytes.
const maxIdempotencyKey = 255

// replayedHeader says that an answer is that of an earlier request.
const replayedHeader = "Idempotent-Replayed"

// claim is a request's hold of its Idempotency-Key.
type claim struct {
	workspace string
	caller    string
	key       string
	run       string // id of the first run that the request starts
	// again says that an earlier request with this key began. What it did is found
	// by run.
	again bool
	// earlier is what that request was answered, nil if its process died before.
	earlier *store.IdempotencyRecord
	partly  bool // a part was done, although the rest was refused
	leave   func()
}

// caller names who has an Idempotency-Key: the API key, or the token's user, as
// it is held to a project and acts for a user. Two API keys that act for the
// same user are two callers, who may see different things.
func caller(p knowledge.Principal) string {
	return strings.Join([]string{p.KeyID(), p.Project(), p.User(), p.ExternalUser()}, "\n")
}

// takeKey claims an Idempotency-Key for a request, once no other request holds
// it. Without a key it gives nil.
func (s *Server) takeKey(ctx context.Context, p knowledge.Principal, key, route, hash string) (*claim, error) {
	if key == "" {
		return nil, nil
	}
	if len(key) > maxIdempotencyKey || strings.ContainsFunc(key, func(c rune) bool { return c < ' ' || c > '~' }) {
		return nil, invalid("header.Idempotency-Key", "must be at most %d printable ASCII characters", maxIdempotencyKey)
	}
	c := &claim{workspace: p.Workspace(), caller: caller(p), key: key, run: knowledge.NewID()}
	var err error
	if c.leave, err = s.claims.enter(ctx, c.workspace+"\n"+c.caller+"\n"+key); err != nil {
		return nil, fmt.Errorf("wait for a request with the same Idempotency-Key: %w", err)
	}
	existing, err := s.deps.Store.ClaimKey(ctx, store.IdempotencyKey{
		Workspace: c.workspace, Caller: c.caller, Key: key, Route: route, BodyHash: hash, RunID: c.run, Now: s.now(),
	})
	switch {
	case err != nil:
		err = fmt.Errorf("claim Idempotency-Key: %w", err)
	case existing == nil:
		return c, nil
	case existing.Route != route || existing.BodyHash != hash:
		err = knowledge.Errorf(knowledge.CodeConflict, "this Idempotency-Key was used with another request; take a new key")
	default:
		c.run, c.again = existing.RunID, true
		if existing.Status != 0 {
			c.earlier = existing
		}
		return c, nil
	}
	c.leave()
	return nil, err
}

// once serves a request that may have an Idempotency-Key: its handler runs for
// the first request with the key, and later ones get that answer. Of a route
// that answers anew the handler runs again, and is told.
func (s *Server) once(w http.ResponseWriter, r *http.Request, rt *route, hash string, next http.HandlerFunc) {
	c := callOf(r.Context())
	route := r.Method + " " + r.URL.Path + "?" + r.URL.RawQuery
	held, err := s.takeKey(r.Context(), c.principal, r.Header.Get("Idempotency-Key"), route, hash)
	switch {
	case err != nil:
		writeError(w, r, err)
		return
	case held == nil:
		next(w, r)
		return
	}
	defer held.leave()
	if held.earlier != nil {
		w.Header().Set(replayedHeader, "true")
		if !rt.anew {
			s.replay(w, r, held.earlier)
			return
		}
	}
	c.claim = held
	out := &heldBack{header: w.Header(), ResponseWriter: w}
	next(out, r)
	if err := s.keep(r, rt, held, out); err != nil {
		writeError(w, r, err)
		return
	}
	w.WriteHeader(out.code())
	_, _ = w.Write(out.body.Bytes()) // what fails is the connection
}

// keep stores an answer before it is given. A refusal that changed nothing frees
// the key; otherwise the same request goes on where it stopped.
func (s *Server) keep(r *http.Request, rt *route, c *claim, out *heldBack) error {
	ctx := context.WithoutCancel(r.Context())
	switch status := out.code(); {
	case status >= statusClientClosed || c.partly || c.earlier != nil:
		return nil
	case status >= 300:
		if err := s.deps.Store.ReleaseKey(ctx, c.workspace, c.caller, c.key); err != nil {
			return fmt.Errorf("release Idempotency-Key: %w", err)
		}
		return nil
	}
	body, kind := out.body.Bytes(), out.header.Get("Content-Type")
	if rt.anew {
		body, kind = nil, ""
	}
	if rt.secret {
		sealed, err := seal(r, body)
		if err != nil {
			return fmt.Errorf("seal an answer: %w", err)
		}
		body, kind = sealed, sealedType+kind
	}
	if err := s.deps.Store.StoreResponse(ctx, c.workspace, c.caller, c.key, out.code(), kind, body); err != nil {
		return fmt.Errorf("store the answer of an Idempotency-Key: %w", err)
	}
	return nil
}

// replay gives an answer that was given before.
func (s *Server) replay(w http.ResponseWriter, r *http.Request, earlier *store.IdempotencyRecord) {
	kind, body := earlier.ContentType, earlier.Response
	if plain, ok := strings.CutPrefix(kind, sealedType); ok {
		opened, err := unseal(r, body)
		if err != nil {
			writeError(w, r, knowledge.Errorf(knowledge.CodeConflict, "the answer to this request holds a secret that only the same credentials can see again").WithCause(err))
			return
		}
		kind, body = plain, opened
	}
	if kind != "" {
		w.Header().Set("Content-Type", kind)
	}
	if _, err := s.deps.Store.RunForSystem(r.Context(), callOf(r.Context()).principal.Workspace(), earlier.RunID); err == nil {
		w.Header().Set(runHeader, earlier.RunID) // not every request starts one
	}
	w.WriteHeader(earlier.Status)
	_, _ = w.Write(body) // what fails is the connection
}

func hashBody(body []byte) string {
	sum := sha256.Sum256(body)
	return hex.EncodeToString(sum[:])
}

// runID gives the id for the run that the request starts: the same one when the
// request is repeated under its Idempotency-Key.
func runID(ctx context.Context) (id string, again bool) {
	if c := callOf(ctx).claim; c != nil {
		return c.run, c.again
	}
	return knowledge.NewID(), false
}

// keepKey notes that a request which is refused has done a part of its work: its
// repetition does the rest.
func keepKey(ctx context.Context, partly bool) {
	if c := callOf(ctx).claim; c != nil {
		c.partly = partly
	}
}

// heldBack keeps an answer until it is stored.
type heldBack struct {
	http.ResponseWriter
	header http.Header
	status int
	body   bytes.Buffer
}

// WriteHeader implements http.ResponseWriter.
func (h *heldBack) WriteHeader(status int) {
	if h.status == 0 {
		h.status = status
	}
}

// Write implements http.ResponseWriter.
func (h *heldBack) Write(p []byte) (int, error) { return h.body.Write(p) }

// Unwrap lets http.ResponseController reach the connection.
func (h *heldBack) Unwrap() http.ResponseWriter { return h.ResponseWriter }

func (h *heldBack) code() int {
	if h.status == 0 {
		return http.StatusOK
	}
	return h.status
}

// claims are the keys whose requests this process works on: a second request
// with the same key waits for the first.
type claims struct {
	mu   sync.Mutex
	held map[string]chan struct{}
}

func newClaims() *claims { return &claims{held: map[string]chan struct{}{}} }

// enter waits until no other request holds the key; leave gives it back.
func (c *claims) enter(ctx context.Context, key string) (leave func(), err error) {
	for {
		c.mu.Lock()
		other, busy := c.held[key]
		if !busy {
			mine := make(chan struct{})
			c.held[key] = mine
			c.mu.Unlock()
			return sync.OnceFunc(func() {
				c.mu.Lock()
				defer c.mu.Unlock()
				delete(c.held, key)
				close(mine)
			}), nil
		}
		c.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}
