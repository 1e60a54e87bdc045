package store_test

import (
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/store/postgrestest"
)

// TestAGrantEndsToTheSecond moves the clock over the end of a grant: a search and a read are
// let in until it, and refused from it on. The reader's own document is the control.
func TestAGrantEndsToTheSecond(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]func(t *testing.T) string{
		"sqlite":   func(t *testing.T) string { return "sqlite://" + filepath.Join(t.TempDir(), "cairn.db") },
		"postgres": func(t *testing.T) string { return postgrestest.Migrated(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var ahead atomic.Int64
			s, err := store.Open(t.Context(), store.Config{URL: url(t), Clock: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }})
			must(t, err)
			t.Cleanup(func() { must(t, s.Close()) })
			endsToTheSecond(t, s, func(d time.Duration) { ahead.Store(int64(d)) })
		})
	}
}

func endsToTheSecond(t *testing.T, s *store.Store, move func(time.Duration)) {
	t.Helper()
	must(t, s.CreateWorkspace(t.Context(), store.Workspace{ID: "w", Name: "w"}))
	must(t, s.CreateProject(t.Context(), knowledge.Project{ID: "p", Workspace: "w", Name: "p"}))
	private, chunks := publish(t, s, "private", "text", 1)
	open, control := publish(t, s, "open", "text", 1)
	nobody, unclassified := knowledge.Access{}, ""
	_, err := s.UpdateDocument(t.Context(), manager(), private.Document, store.DocumentPatch{Access: &nobody, Classification: &unclassified})
	must(t, err)
	_, err = s.UpdateDocument(t.Context(), manager(), open.Document, store.DocumentPatch{Classification: &unclassified})
	must(t, err)
	end := time.Now().Add(time.Hour)
	_, err = s.AddGrant(t.Context(), manager(), knowledge.Grant{
		ID: knowledge.NewID(), Subject: "u:ann", Object: "d:" + private.Document, Effect: knowledge.GrantAllow, Permission: knowledge.GrantRead, ExpiresAt: end,
	})
	must(t, err)
	ann := knowledge.NewPrincipal(knowledge.Claims{Workspace: "w", User: "ann", Scopes: []knowledge.Scope{knowledge.ScopeRead}, KeyID: "k"})
	for _, step := range []struct {
		until time.Duration
		sees  bool
	}{{time.Minute, true}, {5 * time.Second, true}, {-time.Millisecond, false}, {-time.Hour, false}, {time.Minute, true}} {
		move(time.Until(end) - step.until)
		hits := []knowledge.Hit{{ChunkID: chunks[0].ID}, {ChunkID: control[0].ID}}
		views, err := s.VisibleChunks(t.Context(), ann, nil, hits)
		must(t, err)
		_, document := s.Document(t.Context(), ann, private.Document)
		_, always := s.Document(t.Context(), ann, open.Document)
		if (len(views) == 2) != step.sees || len(views) == 0 || (document == nil) != step.sees || always != nil {
			t.Errorf("%v before the end: %d passages, the document %v, the control %v", step.until, len(views), document, always)
		}
	}
}
