package store_test

import (
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

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

// FuzzNumbers reads any text as lines and pages: it is refused, or what was read
// is written and read again unchanged.
func FuzzNumbers(f *testing.F) {
	f.Add("[[1,2,3,4,5,6,7],[1,2,3,-4.5,5,6,7.25]]")
	f.Add("[[1,2,3]]")
	f.Add("[[1e9,--,.]]")
	f.Add("[")
	f.Fuzz(func(t *testing.T, text string) {
		if _, err := store.DecodePages(text); err != nil {
			t.Log(err) // refused, and no panic
		}
		lines, err := store.DecodeLines(text)
		if err != nil {
			return
		}
		for i := range lines { // as they are written: hundredths of a point
			if b := lines[i].Box; max(b.X1, b.Y1, b.X2, b.Y2) > 1e6 || min(b.X1, b.Y1, b.X2, b.Y2) < -1e6 || lines[i].Start > 1e9 || lines[i].Start < -1e9 {
				t.Skip("no page is that large")
			}
		}
		first := store.EncodeLines(lines)
		again, err := store.DecodeLines(first)
		if err != nil {
			t.Fatalf("%q: %v", first, err)
		}
		if second := store.EncodeLines(again); second != first {
			t.Error(cmp.Diff(first, second))
		}
	})
}
