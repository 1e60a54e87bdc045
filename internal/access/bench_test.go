package access_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/access"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// BenchmarkAuthenticate measures who asks, which every search and every question pays for.
func BenchmarkAuthenticate(b *testing.B) {
	s, err := store.Open(b.Context(), store.Config{URL: "sqlite://" + b.TempDir() + "/cairn.db"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() }) // what it measures has been stored
	if err := s.CreateWorkspace(b.Context(), store.Workspace{ID: "default"}); err != nil {
		b.Fatal(err)
	}
	plain, hash, _ := access.NewKey()
	if err := s.CreateKey(b.Context(), store.Key{ID: "k", Workspace: "default", Hash: hash, Scopes: []knowledge.Scope{knowledge.ScopeWrite}}); err != nil {
		b.Fatal(err)
	}
	a := access.New(access.Config{}, s, nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := a.Authenticate(b.Context(), access.Credentials{Key: plain}); err != nil {
			b.Fatal(err)
		}
	}
}
