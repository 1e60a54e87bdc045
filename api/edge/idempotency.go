package edge

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/cairn-rag/cairn/internal/idempotency"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// IdempotencyHeader names the key under which a request may be repeated.
const IdempotencyHeader = "Idempotency-Key"

// ReplayedHeader marks an answer as the answer to an earlier request.
const ReplayedHeader = "Idempotent-Replayed"

// Once serves a request that may have an Idempotency-Key: its handler runs for
// the first request with the key, and later ones get that answer. The handler of
// a route that answers anew runs again, and finds the claim in its call.
func (e *Edge) Once(w http.ResponseWriter, r *http.Request, rt *Route, hash string, next http.HandlerFunc) {
	key := r.Header.Get(IdempotencyHeader)
	if key == "" {
		next(w, r)
		return
	}
	c := callOf(r.Context())
	claim, err := e.deps.Keys.Claim(r.Context(), c.principal, idempotency.Request{
		Key: key, Route: r.Method + " " + r.URL.Path + "?" + r.URL.RawQuery, Hash: hash,
	})
	if err != nil {
		WriteError(w, r, err)
		return
	}
	defer claim.Leave()
	if claim.Earlier != nil {
		w.Header().Set(ReplayedHeader, "true")
		if c.trail != nil {
			c.trail.Replayed()
		}
		if !rt.Anew {
			replay(w, r, claim.Earlier)
			return
		}
	}
	c.claim = claim
	out := &heldBack{header: w.Header(), ResponseWriter: w}
	next(out, r)
	if err := keep(r, rt, c, out); err != nil {
		WriteError(w, r, err)
		return
	}
	w.WriteHeader(out.code())
	_, _ = w.Write(out.body.Bytes()) // an error here is the connection's
}

// keep stores an answer before it is sent. A refusal that changed nothing frees
// the key; otherwise a repetition resumes where the request stopped.
func keep(r *http.Request, rt *Route, c *call, out *heldBack) error {
	ctx := context.WithoutCancel(r.Context())
	switch status := out.code(); {
	case status >= statusClientClosed || c.partly || c.claim.Earlier != nil:
		return nil
	case status >= 300:
		return c.claim.Free(ctx)
	}
	body, kind := out.body.Bytes(), out.header.Get("Content-Type")
	if rt.Anew {
		body, kind = nil, ""
	}
	if rt.Secret {
		box, err := seal(r, body)
		if err != nil {
			return fmt.Errorf("seal an answer: %w", err)
		}
		body, kind = box, sealedType+kind
	}
	return c.claim.Answer(ctx, out.code(), kind, body)
}

// replay sends the stored answer of an earlier request.
func replay(w http.ResponseWriter, r *http.Request, earlier *store.IdempotencyRecord) {
	kind, body := earlier.ContentType, earlier.Response
	if plain, ok := strings.CutPrefix(kind, sealedType); ok {
		answer, err := unseal(r, body)
		if err != nil {
			WriteError(w, r, knowledge.Errorf(knowledge.CodeConflict, "the answer to this request contains a secret: repeat it with the same credentials").WithCause(err))
			return
		}
		kind, body = plain, answer
	}
	if kind != "" {
		w.Header().Set("Content-Type", kind)
	}
	w.WriteHeader(earlier.Status)
	_, _ = w.Write(body) // an error here is the connection's
}

// RunID returns the id for the run that the request starts: the same one when
// the request is repeated under its Idempotency-Key.
func RunID(ctx context.Context) (id string, again bool) {
	if c := callOf(ctx).claim; c != nil {
		return c.Run, c.Repeated
	}
	return knowledge.NewID(), false
}

// KeepKey notes that a request which is refused has done a part of its work: its
// repetition does the rest.
func KeepKey(ctx context.Context, partly bool) { callOf(ctx).partly = partly }

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

// OnceFor is Once for a route that authenticates its callers itself: p is the principal
// of the request.
func (e *Edge) OnceFor(w http.ResponseWriter, r *http.Request, p knowledge.Principal, hash string, next http.HandlerFunc) {
	callOf(r.Context()).principal = p
	e.Once(w, r, &Route{}, hash, next)
}

// Flush keeps a handler that streams from sending the answer before it is stored.
func (h *heldBack) Flush() {}
