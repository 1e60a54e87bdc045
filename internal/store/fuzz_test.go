package store_test

import (
	"testing"
	"unicode/utf8"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/store/storetest"
)

// FuzzRoundTrip stores any word as name, id, tag, text and source, and finds it
// again by itself alone.
func FuzzRoundTrip(f *testing.F) {
	for _, word := range storetest.Hostile {
		f.Add(word)
	}
	s, _ := openAt(f)
	must(f, s.CreateWorkspace(f.Context(), store.Workspace{ID: "acme"}))
	must(f, s.CreateProject(f.Context(), knowledge.Project{ID: "handbook", Workspace: "acme"}))
	f.Fuzz(func(t *testing.T, word string) {
		if len(word) > 10_000 || !utf8.ValidString(word) {
			t.Skip("requests are UTF-8, and names are short")
		}
		storetest.RoundTrip(t, s, word)
	})
}

// FuzzCursor gives any text as a cursor: it is refused, or leads somewhere in
// the list.
func FuzzCursor(f *testing.F) {
	for _, word := range storetest.Hostile {
		f.Add(word)
	}
	f.Add("eyJsIjoiZG9jdW1lbnRzIiwibyI6MTIzLCJpIjoieCJ9")
	s, _ := openAt(f)
	publish(f, s, "a", "text", 1)
	f.Fuzz(func(t *testing.T, cursor string) {
		_, _, err := s.Documents(t.Context(), manager(), store.DocumentQuery{Page: store.Page{Cursor: cursor}})
		if err != nil && !knowledge.IsCode(err, knowledge.CodeInvalid) {
			t.Errorf("cursor %q: %v", cursor, err)
		}
	})
}
