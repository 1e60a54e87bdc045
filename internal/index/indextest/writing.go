package indextest

import (
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/google/go-cmp/cmp"
)

// inOrder checks the hits of a leg in order.
func (f fixture) inOrder(leg string, got []string, want ...string) {
	f.Helper()
	if diff := cmp.Diff(want, got); diff != "" && len(want)+len(got) > 0 {
		f.Errorf("%s found (-want +got):\n%s", leg, diff)
	}
}

func (f fixture) counts(document string, want map[int]int) {
	f.Helper()
	got, err := f.Count(f.ctx, workspace, document)
	if err != nil {
		f.Fatalf("count: %v", err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		f.Errorf("count of %s (-want +got):\n%s", document, diff)
	}
}

func testWriting(t *testing.T, open Open) {
	q := index.Query{Principal: member(), Limit: 10}
	t.Run("an entry written twice is one entry", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, open, entry("a", "common"), entry("a", "common"))
		f.upsert(entry("a", "common"))
		f.bothFind(q, "a")
		f.counts("a", map[int]int{1: 1})
	})
	t.Run("an entry written again loses its old words, vector and tokens", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, open, entry("a", "common before"), entry("b", "common"))
		f.upsert(entry("a", "after", acl("u:alice"), func(e *index.Entry) { e.Vector = []float32{0, 1, 0, 0} }))
		f.bothFind(q, "b")
		alice := index.Query{Limit: 10, Principal: knowledgetest.Principal(knowledge.Claims{Workspace: workspace, User: "alice"})}
		f.inOrder("before", f.words(alice, "before"))
		f.inOrder("after", f.words(alice, "after"), "a")
		f.inOrder("dense", f.dense(alice, 0, 1, 0, 0), "a", "b")
	})
	t.Run("an entry without a vector is found by its words", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, open, entry("none", "common", func(e *index.Entry) { e.Vector = nil }),
			entry("zero", "common", func(e *index.Entry) { e.Vector = make([]float32, 4) }))
		f.inOrder("BM25", f.words(q, "common"), "none", "zero")
		f.inOrder("dense", f.dense(q, 1, 0, 0, 0))
	})
	t.Run("a batch with a bad vector writes nothing", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, open)
		nan := entry("nan", "common", func(e *index.Entry) { e.Vector = []float32{1, float32(math.NaN()), 0, 0} })
		if err := f.Upsert(f.ctx, []index.Entry{entry("good", "common"), nan}); err == nil {
			t.Error("a vector with a NaN was accepted")
		}
		f.bothFind(q)
	})
	t.Run("writing no entries succeeds", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t, open)
		f.upsert()
		f.bothFind(q)
		f.counts("a", map[int]int{})
	})
	t.Run("attributes change without a new version", func(t *testing.T) {
		t.Parallel()
		testAttributes(t, open)
	})
}

func testAttributes(t *testing.T, open Open) {
	q := index.Query{Principal: member(), Limit: 10}
	f := newFixture(t, open, entry("a", "common"), entry("b", "common"))
	set := func(document string, a index.Attributes) {
		t.Helper()
		if err := f.SetAttributes(f.ctx, workspace, document, 1, a); err != nil {
			t.Fatalf("set attributes: %v", err)
		}
	}
	set("a", index.Attributes{ACL: []string{"w:" + workspace}, Tags: []string{"new"}, Classification: "secret", Metadata: map[string]any{"k": "v"}})
	for _, c := range []knowledge.Condition{
		{Field: "tags", Type: "eq", Value: "new"}, {Field: "classification", Type: "eq", Value: "secret"}, {Field: "metadata.k", Type: "eq", Value: "v"},
	} {
		q.Filter = knowledge.Filter{c}
		f.bothFind(q, "a")
	}
	q.Filter = nil
	set("a", index.Attributes{ACL: []string{"u:alice"}})
	f.bothFind(q, "b")
	f.bothFind(index.Query{Principal: knowledgetest.Principal(knowledge.Claims{Workspace: workspace, User: "alice"})}, "a", "b")
	set("missing", index.Attributes{ACL: []string{"u:alice"}})
	if err := f.SetAttributes(f.ctx, "other", "b", 1, index.Attributes{}); err != nil {
		t.Fatalf("set attributes in a workspace without entries: %v", err)
	}
	f.bothFind(q, "b")
	next := entry("b", "common", func(e *index.Entry) { e.ChunkID, e.Version = "next", 2 })
	f.upsert(next)
	set("b", index.Attributes{ACL: []string{"u:alice"}})
	f.bothFind(q, "next")
}

func testConcurrency(t *testing.T, open Open, without []Promise) {
	whole := !slices.Contains(without, WholeUpserts)
	f := newFixture(t, open)
	const documents, writers = 40, 4
	var wait sync.WaitGroup
	for w := range writers {
		wait.Go(func() {
			for i := w; i < documents; i += writers {
				id := fmt.Sprintf("document-%02d", i)
				if err := f.Upsert(f.ctx, []index.Entry{entry(id, "common"), entry(id, "common", func(e *index.Entry) { e.ChunkID += "-2" })}); err != nil {
					t.Errorf("upsert while others write: %v", err)
				}
				if i%4 == 3 {
					if err := f.RemoveDocument(f.ctx, workspace, id, 1); err != nil {
						t.Errorf("remove while others write: %v", err)
					}
				}
			}
		})
		wait.Go(func() {
			for range documents / writers {
				q := index.Query{Principal: member(), Limit: 100}
				dense, err := f.Dense(f.ctx, q, []float32{1, 0, 0, 0})
				if err != nil || whole && len(dense)%2 != 0 {
					t.Errorf("dense while others write: %d hits of documents of two, error %v", len(dense), err)
				}
				if words, err := f.BM25(f.ctx, q, "common"); err != nil || whole && len(words)%2 != 0 {
					t.Errorf("BM25 while others write: %d hits of documents of two, error %v", len(words), err)
				}
			}
		})
	}
	wait.Wait()
	hits := f.dense(index.Query{Principal: member(), Limit: 1000}, 1, 0, 0, 0)
	if want := documents * 3 / 4 * 2; len(hits) != want {
		t.Errorf("%d entries are left, want %d", len(hits), want)
	}
}
