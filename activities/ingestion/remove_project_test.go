package ingestion_test

import (
	"slices"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// TestRemoveProjectRows has a workflow that is still open when its run has ended, and a run
// whose workflow the list of workflows does not show yet.
func TestRemoveProjectRows(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.Workflows.Open = 2
	f.Must(f.Store.AddRun(f.Ctx, store.Run{
		ID: "asked", Workspace: "w", Project: "p", Kind: knowledge.KindQuery, Status: knowledge.RunRunning, WorkflowID: "query/w/asked", CreatedAt: time.Now(),
	}))
	f.Must(f.Store.EndRun(f.Ctx, "w", "asked", store.RunEnd{Status: knowledge.RunCompleted}))
	run, err := f.Store.RemoveProject(f.Ctx, activitytest.Manager(), "p", knowledge.NewID())
	f.Must(err)
	in := knowledge.RunRef{Workspace: "w", Project: "p", Run: run.ID}
	for n := range 2 { // the second time there is nothing left
		result, err := do(f, f.Ingestion.RemoveProjectRows, in)
		if f.Must(err); result.Running {
			t.Errorf("call %d: something is left", n+1)
		}
	}
	if f.Workflows.Forgets != f.Workflows.Open+2 {
		t.Errorf("the histories were deleted %d times: until none was open, and once more", f.Workflows.Forgets)
	}
	if want := []string{"query/w/asked"}; !slices.Equal(f.Workflows.Ended, want) {
		t.Errorf("the histories of %v were deleted, want %v", f.Workflows.Ended, want)
	}
	if _, err := f.Store.Project(f.Ctx, activitytest.Manager(), "p"); !knowledge.IsCode(err, knowledge.CodeNotFound) {
		t.Errorf("the project is there: %v", err)
	}
}
