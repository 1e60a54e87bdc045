package indextest

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Two generations of one length.
const (
	earlier = "text-embedding-3-small/4"
	later   = "Qwen/Qwen3-Embedding-0.6B/4"
)

// embedded makes an entry's vector one of a generation.
func embedded(generation string, components ...float32) func(*index.Entry) {
	return func(e *index.Entry) { e.Generation, e.Vector = generation, components }
}

// of returns a query that finds the entries of a generation.
func of(generation string) index.Query {
	return index.Query{Principal: member(), Limit: 10, Generation: generation}
}

func testGenerations(t *testing.T, open Open) {
	for name, check := range map[string]func(*testing.T, Open){
		"vectors of two models are never compared, though of one length": neverMixesModels,
		"a chunk with vectors of two generations is one":                 countsAChunkOnce,
		"another text loses the vectors of its generation":               forgetsAFormerText,
		"a generation has one length":                                    refusesAnotherLength,
		"the generation of a project is removed":                         removesAGeneration,
		"removing a version removes all its generations":                 removesAllGenerations,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, open)
		})
	}
}

func neverMixesModels(t *testing.T, open Open) {
	f := newFixture(t, open,
		entry("a", "common", embedded(earlier, 1, 0, 0, 0)), entry("b", "common", embedded(later, 1, 0, 0, 0)))
	f.inOrder("earlier", f.dense(of(earlier), 1, 0, 0, 0), "a")
	f.inOrder("later", f.dense(of(later), 1, 0, 0, 0), "b")
	f.inOrder("an unknown one", f.dense(of("other/4"), 1, 0, 0, 0))
	filtered := of(later)
	filtered.Filter = knowledge.Filter{{Field: "name", Type: knowledge.OpEq, Value: "a.txt"}}
	f.inOrder("later, filtered", f.dense(filtered, 1, 0, 0, 0))
}

func countsAChunkOnce(t *testing.T, open Open) {
	f := newFixture(t, open,
		entry("a", "common", embedded(earlier, 1, 0, 0, 0)), entry("b", "common", embedded(earlier, 0, 1, 0, 0)))
	f.upsert(entry("a", "common", embedded(later, 0, 1, 0, 0)), entry("b", "common", embedded(later, 1, 0, 0, 0)))
	f.inOrder("earlier", f.dense(of(earlier), 1, 0, 0, 0), "a", "b")
	f.inOrder("later", f.dense(of(later), 1, 0, 0, 0), "b", "a")
	for _, generation := range []string{earlier, later} {
		f.inOrder("the words of "+generation, f.words(of(generation), "common"), "a", "b")
	}
	f.counts("a", map[int]int{1: 1})
	together := newFixture(t, open, entry("a", "common", embedded(earlier, 1, 0, 0, 0)), entry("a", "common", embedded(later, 0, 1, 0, 0)))
	together.inOrder("earlier, written together", together.dense(of(earlier), 1, 0, 0, 0), "a")
	together.inOrder("later, written together", together.dense(of(later), 1, 0, 0, 0), "a")
	together.inOrder("the words, written together", together.words(of(later), "common"), "a")
	err := f.SetAttributes(f.ctx, workspace, "a", 1, index.Attributes{ACL: []string{"u:alice"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, generation := range []string{earlier, later} {
		f.inOrder(generation+" after the access changed", f.dense(of(generation), 1, 0, 0, 0), "b")
		f.inOrder("the words of "+generation+" after the access changed", f.words(of(generation), "common"), "b")
	}
}

func forgetsAFormerText(t *testing.T, open Open) {
	f := newFixture(t, open, entry("a", "former", embedded(later, 1, 0, 0, 0)))
	f.upsert(entry("a", "common", embedded(later, 0, 1, 0, 0)))
	f.inOrder("the former words", f.words(of(later), "former"))
	f.inOrder("the words", f.words(of(later), "common"), "a")
	hits, err := f.Dense(f.ctx, of(later), []float32{0, 1, 0, 0})
	if err != nil || len(hits) != 1 || hits[0].Score < .99 {
		t.Errorf("found %v, %v; want the new vector", hits, err)
	}
}

func refusesAnotherLength(t *testing.T, open Open) {
	f := newFixture(t, open, entry("a", "common", embedded(earlier, 1, 0, 0, 0)))
	if _, err := f.Dense(f.ctx, of(earlier), []float32{1, 0}); !knowledge.IsCode(err, knowledge.CodeConflict) {
		t.Errorf("a query of another length: %v", err)
	}
	err := f.Upsert(f.ctx, []index.Entry{entry("b", "common", embedded(earlier, 1, 0))})
	if !knowledge.IsCode(err, knowledge.CodeConflict) {
		t.Errorf("an entry of another length: %v", err)
	}
	f.upsert(entry("b", "common", embedded("text-embedding-3-small/2", 1, 0)))
	f.inOrder("two", f.dense(of("text-embedding-3-small/2"), 1, 0), "b")
	f.inOrder("four", f.dense(of(earlier), 1, 0, 0, 0), "a")
}

func removesAGeneration(t *testing.T, open Open) {
	other := func(e *index.Entry) { e.Project = "other" }
	f := newFixture(t, open,
		entry("a", "common", embedded(earlier, 1, 0, 0, 0)), entry("c", "common", embedded(earlier, 1, 0, 0, 0), other),
		entry("d", "common", embedded(earlier, 1, 0, 0, 0), in("other", project)))
	f.upsert(entry("a", "common", embedded(later, 1, 0, 0, 0)))
	for range 2 {
		if err := f.RemoveGeneration(f.ctx, workspace, project, earlier); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.RemoveGeneration(f.ctx, workspace, project, "unknown/4"); err != nil {
		t.Errorf("an unknown generation: %v", err)
	}
	f.inOrder("earlier", f.dense(of(earlier), 1, 0, 0, 0), "c")
	f.inOrder("later", f.dense(of(later), 1, 0, 0, 0), "a")
	f.inOrder("the words of the project", f.words(index.Query{Principal: member(), Limit: 10, Generation: later, Projects: []string{project}}, "common"), "a")
	f.counts("a", map[int]int{1: 1})
}

func removesAllGenerations(t *testing.T, open Open) {
	f := newFixture(t, open, entry("a", "common", embedded(earlier, 1, 0, 0, 0)))
	f.upsert(entry("a", "common", embedded(later, 1, 0, 0, 0)))
	if err := f.RemoveDocument(f.ctx, workspace, "a", 1); err != nil {
		t.Fatal(err)
	}
	for _, generation := range []string{earlier, later} {
		f.inOrder(generation, f.dense(of(generation), 1, 0, 0, 0))
		f.inOrder("the words of "+generation, f.words(of(generation), "common"))
	}
	f.counts("a", map[int]int{})
	f.upsert(entry("a", "common", embedded(later, 0, 1, 0, 0)))
	f.inOrder("earlier, written again", f.dense(of(earlier), 1, 0, 0, 0))
	f.inOrder("later, written again", f.dense(of(later), 1, 0, 0, 0), "a")
}
