package store_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// TestStatementsArePreparedOnce takes documents in and answers questions, many at
// once: no statement has a value in its text, so the first few prepare all.
func TestStatementsArePreparedOnce(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := openAt(t)
	ann := knowledge.NewPrincipal(knowledge.Claims{Workspace: "w", User: "ann", Scopes: []knowledge.Scope{knowledge.ScopeRead}, Covered: []string{knowledge.EveryLevel}})
	work := func(id string) {
		v, chunks := publish(t, s, id, "text", 3)
		for _, p := range []knowledge.Principal{ann, manager()} {
			if _, err := s.Document(ctx, p, v.Document); err != nil && p.Can(knowledge.ScopeWrite) {
				t.Error(err)
			}
			hits := []knowledge.Hit{{ChunkID: chunks[0].ID, DocumentID: v.Document, Version: v.Version}}
			if _, err := s.VisibleChunks(ctx, p, []string{"p"}, hits); err != nil {
				t.Error(err)
			}
			if _, err := s.Superseded(ctx, p, nil, hits); err != nil {
				t.Error(err)
			}
		}
		_, err := s.StartRun(ctx, ann, store.Run{ID: id, Workspace: "w", Owner: ann.Owner(), ConversationID: id}, &store.Conversation{ID: id})
		must(t, err)
		must(t, s.EndAnswer(ctx, "w", id, store.RunEnd{Status: knowledge.RunCompleted}, store.Message{ID: id, ConversationID: id, ChunkIDs: []string{chunks[0].ID}}))
		if run, err := s.Run(ctx, ann, id); err != nil || run.Status != knowledge.RunCompleted {
			t.Errorf("run %+v, %v", run, err)
		}
		if talk, err := s.History(ctx, ann, id, 5); err != nil || len(talk.Messages) != 1 {
			t.Errorf("messages %+v, %v", talk.Messages, err)
		}
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() { work(fmt.Sprint("first ", i)) })
	}
	wg.Wait()
	before := s.Prepared()
	for i := range 3 {
		work(fmt.Sprint("then ", i))
	}
	if after := s.Prepared(); before == 0 || after != before {
		t.Errorf("%d statements were prepared, and then %d", before, after)
	}
}
