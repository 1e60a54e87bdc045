package indextest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/knowledge/knowledgetest"
	"github.com/google/go-cmp/cmp"
)

// Open returns a new, empty index, which is closed when the test ends.
type Open func(t *testing.T) index.Index

// Promise is a part of the contract that an index may leave out.
type Promise int

const (
	// WholeUpserts: a query sees all entries of an Upsert or none.
	WholeUpserts Promise = iota
	// LeastOfEqual: of more entries with equal scores than the limit, those with
	// the least chunk ids are found.
	LeastOfEqual
	// OwnStatistics: the weight of a word comes from the workspace alone.
	OwnStatistics
)

// Run checks that an index keeps the contract, but for the promises that it
// leaves out.
func Run(t *testing.T, open Open, without ...Promise) {
	for _, suite := range []struct {
		name string
		run  func(*testing.T, Open)
	}{
		{"permission", testPermission},
		{"filters", testFilters},
		{"injection", testInjection},
		{"writing", testWriting},
		{"removal", testRemoval},
		{"generations", testGenerations},
		{"ranking", func(t *testing.T, open Open) { testRanking(t, open, without) }},
		{"words", testWords},
		{"concurrency", func(t *testing.T, open Open) { testConcurrency(t, open, without) }},
		{"health", testHealth},
	} {
		t.Run(suite.name, func(t *testing.T) {
			t.Parallel()
			suite.run(t, open)
		})
	}
}

const (
	workspace = "acme"
	project   = "manuals"
)

// member returns a principal whose only token is the workspace's.
func member() knowledge.Principal {
	return knowledgetest.Principal(knowledge.Claims{Workspace: workspace, Scopes: []knowledge.Scope{knowledge.ScopeRead}, Covered: []string{knowledge.EveryLevel}})
}

// entry returns the only chunk of a document that the whole workspace may see.
// name is the id of the document and of the chunk.
func entry(name, text string, change ...func(*index.Entry)) index.Entry {
	e := index.Entry{
		ChunkID: name, Workspace: workspace, Project: project, DocumentID: name, Version: 1,
		Text: text, Vector: []float32{1, 0, 0, 0}, ACL: []string{"w:" + workspace},
		Language: "eng", Name: name + ".txt", CreatedAt: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	for _, c := range change {
		c(&e)
	}
	return e
}

// fixture is an index and the test that uses it.
type fixture struct {
	*testing.T
	index.Index
	ctx context.Context
}

func newFixture(t *testing.T, open Open, entries ...index.Entry) fixture {
	t.Helper()
	f := fixture{T: t, Index: open(t), ctx: t.Context()}
	f.upsert(entries...)
	return f
}

func (f fixture) upsert(entries ...index.Entry) {
	f.Helper()
	if err := f.Upsert(f.ctx, entries); err != nil {
		f.Fatalf("upsert: %v", err)
	}
}

func (f fixture) dense(q index.Query, vector ...float32) []string {
	f.Helper()
	hits, err := f.Dense(f.ctx, q, vector)
	if err != nil {
		f.Fatalf("dense: %v", err)
	}
	return ids(hits)
}

func (f fixture) words(q index.Query, text string) []string {
	f.Helper()
	hits, err := f.BM25(f.ctx, q, text)
	if err != nil {
		f.Fatalf("BM25 %q: %v", text, err)
	}
	return ids(hits)
}

// bothFind checks that both legs find exactly these chunks, in any order, for
// the vector and the word that all entries have.
func (f fixture) bothFind(q index.Query, want ...string) {
	f.Helper()
	if q.Limit == 0 {
		q.Limit = 100
	}
	slices.Sort(want)
	for leg, got := range map[string][]string{"dense": f.dense(q, 1, 0, 0, 0), "BM25": f.words(q, "common")} {
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" && len(want)+len(got) > 0 {
			f.Errorf("%s found (-want +got):\n%s", leg, diff)
		}
	}
}

// bothFail checks that both legs refuse the query with the code.
func (f fixture) bothFail(q index.Query, code knowledge.Code) {
	f.Helper()
	_, dense := f.Dense(f.ctx, q, []float32{1, 0, 0, 0})
	_, words := f.BM25(f.ctx, q, "common")
	for leg, err := range map[string]error{"dense": dense, "BM25": words} {
		if !knowledge.IsCode(err, code) {
			f.Errorf("%s: error %v, want code %s", leg, err, code)
		}
	}
}

func ids(hits []knowledge.Hit) []string {
	list := make([]string, len(hits))
	for i, h := range hits {
		list[i] = h.ChunkID
	}
	return list
}
