package embedded_test

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/index/embedded"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// guarded returns an index with one entry that member may see and one that it
// may not.
func guarded(f *testing.F) *embedded.Index {
	x, err := embedded.Open(f.Context(), embedded.Config{Path: filepath.Join(f.TempDir(), "index.db")})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = x.Close() })
	private := passage("private", 0, 0, []float32{1, 0})
	private.ACL = []string{"u:alice"}
	if err := x.Upsert(f.Context(), []index.Entry{passage("public", 0, 0, []float32{1, 0}), private}); err != nil {
		f.Fatal(err)
	}
	return x
}

func check(t *testing.T, hits []knowledge.Hit, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hits {
		if h.DocumentID != "public-document-0" {
			t.Fatalf("found %s", h.DocumentID)
		}
	}
}

// FuzzQuestion checks for any question that the statement is valid and that
// permission holds.
func FuzzQuestion(f *testing.F) {
	for _, text := range []string{"common words", `"a" NEAR(b c, 2) AND NOT d*`, "words:x^2 {y}", "知识 graph", "a\x00b\xff", "’'’s", "é\u0301 ﬁ ⅷ ①", "ー゛"} {
		f.Add(text)
	}
	x := guarded(f)
	f.Fuzz(func(t *testing.T, text string) {
		hits, err := x.BM25(t.Context(), index.Query{Principal: member, Limit: 10}, text)
		check(t, hits, err)
		// A document is found by its own text: questions and documents are
		// split alike.
		e := passage("public", 0, 1, nil)
		e.Text = text
		if err := x.Upsert(t.Context(), []index.Entry{e}); err != nil {
			t.Fatal(err)
		}
		hits, err = x.BM25(t.Context(), index.Query{Principal: member, Limit: 10}, text)
		check(t, hits, err)
		found := slices.ContainsFunc(hits, func(h knowledge.Hit) bool { return h.ChunkID == e.ChunkID })
		if strings.ContainsFunc(text, unicode.IsLetter) && len(text) < 2000 && !found {
			t.Fatalf("a text of %q is not found by itself", text)
		}
	})
}

// FuzzFilter checks that a valid filter never fails and never shows a hidden
// entry.
func FuzzFilter(f *testing.F) {
	for _, seed := range []knowledge.Condition{
		{Field: "tags", Type: "in", Value: []any{"a", `"`}}, {Field: "metadata.a') OR 1=1 --", Type: "eq", Value: "x"},
		{Field: "metadata.private", Type: "contains", Value: "private"}, {Field: "createdAt", Type: "gt", Value: "1970-01-01"},
		{Field: "metadata.$", Type: "nin", Value: []any{1.0, true, "x"}}, {Field: "name", Type: "contains", Value: "%"},
	} {
		value, err := json.Marshal(seed.Value)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(seed.Field, string(seed.Type), string(value))
	}
	x := guarded(f)
	f.Fuzz(func(t *testing.T, field, operator, value string) {
		c := knowledge.Condition{Field: field, Type: knowledge.Operator(operator)}
		if json.Unmarshal([]byte(value), &c.Value) != nil {
			t.Skip("not JSON")
		}
		q := index.Query{Principal: member, Limit: 10, Filter: knowledge.Filter{c}}
		if len(q.Filter.Fields("f")) > 0 {
			t.Skip("a wrong filter")
		}
		hits, err := x.Dense(t.Context(), q, []float32{1, 0})
		check(t, hits, err)
		hits, err = x.BM25(t.Context(), q, "common")
		check(t, hits, err)
	})
}
