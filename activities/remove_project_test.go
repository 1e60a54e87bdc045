package activities_test

import (
	"slices"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// TestRemoveProjectRows has a workflow that is still open when its run has ended, and a run
// whose workflow the list of workflows does not show yet.
func TestRemoveProjectRows(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.workflows.open = 2
	f.must(f.store.AddRun(f.ctx, store.Run{
		ID: "asked", Workspace: "w", Project: "p", Kind: knowledge.KindQuery, Status: knowledge.RunRunning, WorkflowID: "query/w/asked", CreatedAt: time.Now(),
	}))
	f.must(f.store.EndRun(f.ctx, "w", "asked", store.RunEnd{Status: knowledge.RunCompleted}))
	run, err := f.store.RemoveProject(f.ctx, manager(), "p", knowledge.NewID())
	f.must(err)
	in := knowledge.RunRef{Workspace: "w", Project: "p", Run: run.ID}
	for n := range 2 { // the second time there is nothing left
		result, err := do(f, f.ingestion.RemoveProjectRows, in)
		if f.must(err); result.Running {
			t.Errorf("call %d: something is left", n+1)
		}
	}
	if f.workflows.forgets != f.workflows.open+2 {
		t.Errorf("the histories were deleted %d times: until none was open, and once more", f.workflows.forgets)
	}
	if want := []string{"query/w/asked"}; !slices.Equal(f.workflows.ended, want) {
		t.Errorf("the histories of %v were deleted, want %v", f.workflows.ended, want)
	}
	if _, err := f.store.Project(f.ctx, manager(), "p"); !knowledge.IsCode(err, knowledge.CodeNotFound) {
		t.Errorf("the project is there: %v", err)
	}
}
