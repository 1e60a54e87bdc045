package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
	"github.com/cairn-rag/cairn/workflows"
)

// serveAnswer waits for a run to end and answers with what its last event says.
// A client that leaves does not stop the run.
func (s *Server) serveAnswer(w http.ResponseWriter, r *http.Request, p knowledge.Principal, run store.Run, terminal string) {
	w.Header().Set(runHeader, run.ID)
	name, data, err := s.lastEvent(r.Context(), p, run)
	switch {
	case err != nil:
		writeError(w, r, err)
	case name == terminal:
		writeJSON(w, http.StatusOK, data)
	default:
		writeError(w, r, endedWith(data))
	}
}

// lastEvent follows a run to its end and renders that event alone.
func (s *Server) lastEvent(ctx context.Context, p knowledge.Principal, run store.Run) (string, any, error) {
	item, err := s.lastItem(ctx, runRef(run))
	if err != nil {
		return "", nil, err
	}
	return (&renderer{server: s, principal: p, run: run, compact: true}).event(ctx, item)
}

// lastItem follows a run to its end, or until the server stops: the run goes on
// without it.
func (s *Server) lastItem(ctx context.Context, ref stream.RunRef) (stream.Item, error) {
	ctx, leave := context.WithCancelCause(ctx)
	defer leave(nil)
	go func() {
		select {
		case <-s.stopping:
			leave(errStopping)
		case <-ctx.Done():
		}
	}()
	for item, err := range s.deps.Relay.Items(ctx, ref, ref.FirstOffset) {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if err != nil {
			return item, fmt.Errorf("follow run %s: %w", ref.Run, err)
		}
		if stream.Terminal(item.Topic) {
			return item, nil
		}
	}
	return stream.Item{}, fmt.Errorf("run %s ended without a last event", ref.Run)
}

// endedWith returns the error with which a run ended.
func endedWith(data any) error {
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
	return stream.RunRef{Workspace: run.Workspace, Run: run.ID, WorkflowID: run.WorkflowID, FirstOffset: run.EventsFrom()}
}

func requestKey(run store.Run) string {
	return knowledge.RunRef{Workspace: run.Workspace, Run: run.ID}.RequestKey()
}

// claimRun holds the run of a request: a new one, or, under an Idempotency-Key
// that was used before, the one that the same request began then.
func (s *Server) claimRun(ctx context.Context, p knowledge.Principal, route, key string, body any) (*claim, error) {
	encoded, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	held, err := s.takeKey(ctx, p, key, route, hashBody(encoded))
	if held == nil && err == nil {
		held = &claim{run: knowledge.NewID(), leave: func() {}}
	}
	return held, err
}

// releaseRun frees the key of a request that started no run, whosever fault that
// is, so that it can be sent again.
func (s *Server) releaseRun(ctx context.Context, held *claim) {
	if held.key == "" {
		return
	}
	if err := s.deps.Store.ReleaseKey(context.WithoutCancel(ctx), held.workspace, held.caller, held.key); err != nil {
		s.deps.Log.ErrorContext(ctx, "release Idempotency-Key", "error", err)
	}
}

// takeUp gives the run that an earlier request began, and sees to it that its
// workflow runs, which the process of that request may have died before. Not
// found is a run of which too little was stored.
func (s *Server) takeUp(ctx context.Context, p knowledge.Principal, id string) (store.Run, error) {
	run, err := s.deps.Store.Run(ctx, p, id)
	if err != nil || run.Status != knowledge.RunRunning {
		return run, err
	}
	request, err := activities.ReadRequest(ctx, s.deps.Blobs, knowledge.RunRef{Workspace: run.Workspace, Run: run.ID})
	if errors.Is(err, blob.ErrNotFound) {
		return run, knowledge.NotFound("run", id)
	}
	if err != nil {
		return run, err
	}
	in := workflows.NewAnswerInput(knowledge.RunRef{Workspace: run.Workspace, Project: run.Project, Run: run.ID}, request)
	if err := s.deps.Answers.Answer(ctx, run.Kind, in); err != nil {
		return run, fmt.Errorf("start run %s: %w", id, err)
	}
	return run, nil
}
