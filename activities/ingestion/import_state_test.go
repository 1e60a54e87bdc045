package ingestion_test

import (
	"testing"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// TestTheStateOfTheLastCompletedRunStays has a run of a sync that fails between two that are
// completed: what the first one kept is there until the last one has ended.
func TestTheStateOfTheLastCompletedRunStays(t *testing.T) {
	t.Parallel()
	f := newFollowFixture(t, false)
	kept := func(i store.Import) bool {
		t.Helper()
		there, err := f.Blobs.Exists(f.Ctx, i.StateKey("page/a"))
		f.Must(err)
		return there
	}
	run := func(failure *knowledge.DocumentError) store.Import {
		t.Helper()
		i := f.begin()
		_, err := f.Blobs.Put(f.Ctx, i.StateKey("page/a"), []byte("a"))
		f.Must(err)
		f.Must(act(f.fixture, f.importing.FinishImport, ingestion.FinishImportInput{ImportRef: i.ImportRef, Run: i.RunID, Error: failure}))
		f.Must(act(f.fixture, f.importing.CleanImport, i.ImportRef))
		return i
	}
	first := run(nil)
	second := run(&knowledge.DocumentError{Code: knowledge.CodeUnavailable})
	if !kept(first) || kept(second) {
		t.Errorf("after the run that failed, the state of the first is kept: %v, and that of the second: %v", kept(first), kept(second))
	}
	third := run(nil)
	if kept(first) || !kept(third) {
		t.Errorf("after the third, the state of the first is kept: %v, and its own: %v", kept(first), kept(third))
	}
}

// TestTheLastRunOfARemovedSync is completed while the sync is removed: nothing reads what it and
// the run before have kept, so nothing of that stays.
func TestTheLastRunOfARemovedSync(t *testing.T) {
	t.Parallel()
	f := newFollowFixture(t, false)
	var runs []store.Import
	for range 2 {
		i := f.begin()
		runs = append(runs, i)
		_, err := f.Blobs.Put(f.Ctx, i.StateKey("page/a"), []byte("a"))
		f.Must(err)
		f.Must(act(f.fixture, f.importing.FinishImport, ingestion.FinishImportInput{ImportRef: i.ImportRef, Run: i.RunID}))
	}
	_, err := f.Store.RemoveSync(f.Ctx, activitytest.Manager(), "y")
	f.Must(err)
	for range 2 { // a step may run twice
		f.Must(act(f.fixture, f.importing.CleanImport, runs[1].ImportRef))
		f.Must(f.Store.DropSync(f.Ctx, "w", "y"))
	}
	for n, i := range runs {
		if there, err := f.Blobs.Exists(f.Ctx, i.StateKey("page/a")); there || err != nil {
			t.Errorf("the state of run %d is there: %v, %v", n+1, there, err)
		}
	}
}
