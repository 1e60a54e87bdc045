package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/cairn-rag/cairn/api/edge"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// serveAnswer waits for a run to end and answers with the data of its last event.
// A client that leaves does not stop the run.
func (s *Server) serveAnswer(w http.ResponseWriter, r *http.Request, p knowledge.Principal, run store.Run, terminal string) {
	w.Header().Set(runHeader, run.ID)
	name, data, err := s.lastEvent(r.Context(), p, run)
	switch {
	case err != nil:
		edge.WriteError(w, r, err)
	case name == terminal:
		edge.WriteJSON(w, http.StatusOK, data)
	default:
		edge.WriteError(w, r, endedWith(data))
	}
}

// lastEvent follows a run to its end and renders that event alone.
func (s *Server) lastEvent(ctx context.Context, p knowledge.Principal, run store.Run) (string, any, error) {
	item, err := s.lastItem(ctx, runRef(run))
	if err != nil {
		return "", nil, err
	}
	return (&renderer{server: s, reading: &reading{principal: p, run: run, compact: true}}).event(ctx, item)
}

// lastItem follows a run to its end and returns the last item, or errStopping when
// the server stops first. The run continues without its reader.
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
	var ended knowledge.Failure
	raw, ok := data.(json.RawMessage)
	if !ok || json.Unmarshal(raw, &ended) != nil || ended.Code == "" {
		return knowledge.Errorf(knowledge.CodeInternal, "the run ended without an answer")
	}
	return ended.AsError(time.Now())
}

func runRef(run store.Run) stream.RunRef {
	return stream.RunRef{Workspace: run.Workspace, Run: run.ID, WorkflowID: run.LogWorkflowID(), FirstOffset: run.EventsFrom()}
}

func requestKey(run store.Run) string {
	return knowledge.RunRef{Workspace: run.Workspace, Run: run.ID}.RequestKey()
}
