package indextest

import (
	"fmt"
	"testing"

	"github.com/cairn-rag/cairn/internal/index"
)

// version makes an entry a chunk of version v of document "d".
func version(v int) func(*index.Entry) {
	return func(e *index.Entry) { e.DocumentID, e.Version = "d", v }
}

func testRemoval(t *testing.T, open Open) {
	t.Run("a version", func(t *testing.T) {
		t.Parallel()
		testRemovalOfVersions(t, open)
	})
	for name, check := range map[string]func(*testing.T, Open){
		"a document is removed up to a version":                        removesUpToAVersion,
		"removing an unknown document succeeds":                        removesWhatIsUnknown,
		"a document of many chunks is removed, and can be added again": removesManyChunks,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, open)
		})
	}
}

// removalFixture holds three versions of document "d", another document, and a document
// "d" of another workspace.
func removalFixture(t *testing.T, open Open) fixture {
	t.Helper()
	return newFixture(t, open, entry("v1", "common", version(1)), entry("v2", "common", version(2)),
		entry("v2b", "common", version(2)), entry("v3", "common", version(3)), entry("e", "common"),
		entry("elsewhere", "common", version(1), in("other", project)))
}

// everything is a query that finds all entries of the fixture's workspace.
func everything() index.Query { return index.Query{Principal: member(), Limit: 1000} }

func testRemovalOfVersions(t *testing.T, open Open) {
	for name, tc := range map[string]struct {
		remove func(f fixture) error
		found  []string
		counts map[int]int
	}{
		"versions below the one to keep are removed": {
			func(f fixture) error { return f.RemoveVersions(f.ctx, workspace, "d", 3) }, []string{"v3", "e"}, map[int]int{3: 1},
		},
		"one version is removed": {
			func(f fixture) error { return f.RemoveVersion(f.ctx, workspace, "d", 2) }, []string{"v1", "v3", "e"}, map[int]int{1: 1, 3: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := removalFixture(t, open)
			for range 2 {
				if err := tc.remove(f); err != nil {
					t.Fatal(err)
				}
				f.bothFind(everything(), tc.found...)
				f.counts("d", tc.counts)
			}
		})
	}
}

func removesUpToAVersion(t *testing.T, open Open) {
	f := removalFixture(t, open)
	for range 2 {
		if err := f.RemoveDocument(f.ctx, workspace, "d", 2); err != nil {
			t.Fatal(err)
		}
		f.bothFind(everything(), "v3", "e")
		f.counts("d", map[int]int{3: 1})
	}
	counts, err := f.Count(f.ctx, "other", "d")
	if err != nil || counts[1] != 1 {
		t.Errorf("another workspace's document has %v entries, error %v", counts, err)
	}
	if err := f.RemoveDocument(f.ctx, workspace, "d", 3); err != nil {
		t.Fatal(err)
	}
	f.bothFind(everything(), "e")
	f.counts("d", map[int]int{})
}

func removesWhatIsUnknown(t *testing.T, open Open) {
	f := newFixture(t, open)
	if err := f.RemoveDocument(f.ctx, workspace, "d", 9); err != nil {
		t.Error(err)
	}
	if err := f.RemoveVersions(f.ctx, "other", "d", 9); err != nil {
		t.Error(err)
	}
}

func removesManyChunks(t *testing.T, open Open) {
	var entries []index.Entry
	var names []string
	for i := range 300 {
		names = append(names, fmt.Sprintf("chunk-%03d", i))
		entries = append(entries, entry(names[i], "common words", version(1)))
	}
	f := newFixture(t, open, entries...)
	if err := f.RemoveDocument(f.ctx, workspace, "d", 1); err != nil {
		t.Fatal(err)
	}
	f.bothFind(everything())
	f.upsert(entries...)
	f.bothFind(everything(), names...)
}
