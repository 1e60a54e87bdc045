package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// serveAnswer waits for a run to end and answers with what its last event says.
// A client that leaves does not stop the run.
func (s *Server) serveAnswer(w http.ResponseWriter, r *http.Request, p knowledge.Principal, run store.Run, ref stream.RunRef, terminal string) {
	w.Header().Set("Cairn-Run-Id", run.ID)
	name, data, err := s.lastEvent(r.Context(), p, run, ref)
	switch {
	case err != nil:
		writeError(w, r, err)
	case name == terminal:
		writeJSON(w, http.StatusOK, data)
	default:
		writeError(w, r, runError(data))
	}
}

// lastEvent follows a run to its end and renders that event alone.
func (s *Server) lastEvent(ctx context.Context, p knowledge.Principal, run store.Run, ref stream.RunRef) (string, any, error) {
	rendered := &renderer{server: s, principal: p, run: run, compact: true}
	for item, err := range s.deps.Relay.Items(ctx, ref, ref.FirstOffset) {
		if err != nil {
			return "", nil, fmt.Errorf("follow run %s: %w", run.ID, err)
		}
		if stream.Terminal(item.Topic) {
			return rendered.event(ctx, item)
		}
	}
	return "", nil, fmt.Errorf("run %s ended without a last event", run.ID)
}

// runError is the error with which a run ended.
func runError(data any) error {
	var ended struct {
		Code    knowledge.Code `json:"code"`
		Message string         `json:"message"`
	}
	raw, ok := data.(json.RawMessage)
	if !ok || json.Unmarshal(raw, &ended) != nil || ended.Code == "" {
		return knowledge.Errorf(knowledge.CodeInternal, "the run ended without an answer")
	}
	return knowledge.Errorf(ended.Code, "%s", ended.Message)
}

func runRef(run store.Run) stream.RunRef {
	return stream.RunRef{Workspace: run.Workspace, Run: run.ID, WorkflowID: run.WorkflowID, FirstOffset: max(run.FirstOffset, 0)}
}

func requestKey(run store.Run) string {
	return activities.RunRef{Workspace: run.Workspace, Run: run.ID}.Key(activities.RequestBlob)
}

// WaitRun waits until a run has ended.
func (s *Server) waitRun(ctx context.Context, run store.Run) error {
	ref, err := s.awaitTurn(ctx, run, nil)
	if err != nil {
		return err
	}
	for _, err := range s.deps.Relay.Items(ctx, ref, ref.FirstOffset) {
		if err != nil {
			return fmt.Errorf("wait for run %s: %w", run.ID, err)
		}
	}
	return nil
}

// claimRun gives the run of a request: a new one, or, under an Idempotency-Key
// that was used before, the one that the same request started then.
func (s *Server) claimRun(ctx context.Context, p knowledge.Principal, route, key string, body any) (run string, repeated bool, err error) {
	run = knowledge.NewID()
	if key == "" {
		return run, false, nil
	}
	encoded, err := json.Marshal(body)
	if err != nil {
		return "", false, fmt.Errorf("encode request: %w", err)
	}
	hash := sha256.Sum256(encoded)
	claim := store.IdempotencyKey{
		Workspace: p.Workspace(), Caller: caller(p), Key: key, Route: route, BodyHash: hex.EncodeToString(hash[:]), RunID: run, Now: s.now(),
	}
	existing, err := s.deps.Store.ClaimKey(ctx, claim)
	if err != nil {
		return "", false, fmt.Errorf("claim Idempotency-Key: %w", err)
	}
	if existing == nil {
		return run, false, nil
	}
	if existing.BodyHash != claim.BodyHash {
		return "", false, knowledge.Errorf(knowledge.CodeConflict, "this Idempotency-Key was used with another request; take a new key")
	}
	return existing.RunID, true, nil
}

// releaseRun frees the key of a request that was refused, so that it can be
// corrected and sent again.
func (s *Server) releaseRun(ctx context.Context, p knowledge.Principal, key string) {
	if key == "" {
		return
	}
	if err := s.deps.Store.ReleaseKey(context.WithoutCancel(ctx), p.Workspace(), caller(p), key); err != nil {
		s.deps.Log.ErrorContext(ctx, "release Idempotency-Key", "error", err)
	}
}

// awaitRow waits until the request that has the key has started its run.
func (s *Server) awaitRow(ctx context.Context, p knowledge.Principal, run string) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for {
		_, err := s.deps.Store.Run(ctx, p, run)
		if err == nil || !knowledge.IsCode(err, knowledge.CodeNotFound) {
			return err
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			e := knowledge.Errorf(knowledge.CodeConflict, "a request with this Idempotency-Key is being started; try again shortly")
			e.RetryAfter = time.Second
			return e
		}
	}
}
