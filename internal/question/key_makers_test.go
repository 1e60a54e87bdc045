package question_test

import (
	"log/slog"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/idempotency"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/question"
)

// TestChildrenShareTheLimitOfTheirMaker asks with two keys that one key has made, each
// with as high a limit as their maker.
func TestChildrenShareTheLimitOfTheirMaker(t *testing.T) {
	t.Parallel()
	f := open(t)
	clock := time.Now()
	s := question.New(question.Config{}, question.Deps{
		Store: f.store, Blobs: f.blobs, Keys: idempotency.New(f.store, "", time.Now), Workflows: f, Relay: f,
		Log: slog.New(slog.DiscardHandler), Now: func() time.Time { return clock },
	})
	key := func(id string, makers ...knowledge.KeyLimit) knowledge.Principal {
		return knowledge.NewPrincipal(knowledge.Claims{
			Workspace: "default", Scopes: []knowledge.Scope{knowledge.ScopeRead}, KeyID: id, KeyQueries: 3, KeyMakers: makers,
		})
	}
	maker := knowledge.KeyLimit{ID: "maker", QueriesPerMinute: 3}
	one, two := key("one", maker, knowledge.KeyLimit{ID: "without a limit"}), key("two", maker)
	for i, p := range []knowledge.Principal{one, two, key("maker")} {
		if _, err := s.Allow(t.Context(), p, knowledge.Project{}); err != nil {
			t.Fatalf("question %d: %v", i+1, err)
		}
	}
	for _, p := range []knowledge.Principal{one, two, key("maker")} {
		if _, err := s.Allow(t.Context(), p, knowledge.Project{}); !knowledge.IsCode(err, knowledge.CodeRateLimited) {
			t.Errorf("a fourth question by %s: %v", p.KeyID(), err)
		}
	}
	if _, err := s.Allow(t.Context(), key("another"), knowledge.Project{}); err != nil {
		t.Errorf("a key of another maker: %v", err)
	}
}
