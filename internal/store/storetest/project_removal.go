package storetest

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

func testProjectRemoval(t *testing.T, open func(t *testing.T) Store) {
	each(t, open, map[string]func(f *fixture){
		"hides_the_project_and_its_documents_at_once": projectHides,
		"refuses_a_legal_hold":                        projectHeld,
		"ends_with_nothing_but_ids":                   projectDropped,
		"leaves_other_projects_alone":                 projectOthers,
	})
}

func (f *fixture) removeProject() (store.Run, knowledge.RunRef) {
	f.Helper()
	run, err := f.RemoveProject(f.ctx, manager("acme"), "handbook", knowledge.NewID())
	f.must(err)
	return run, knowledge.RunRef{Workspace: "acme", Project: "handbook", Run: run.ID}
}

func projectHides(f *fixture) {
	v, chunks := f.publish(upload("a.txt"), "one")
	f.must(f.CreateKey(f.ctx, store.Key{ID: "k", Workspace: "acme", Project: "handbook", Name: "k", Hash: "hash", Scopes: []knowledge.Scope{knowledge.ScopeRead}}))
	run, _ := f.removeProject()
	_, err := f.Project(f.ctx, manager("acme"), "handbook")
	f.wantCode(err, knowledge.CodeNotFound)
	_, err = f.UpdateProject(f.ctx, manager("acme"), "handbook", func(*knowledge.Project) error { return nil })
	f.wantCode(err, knowledge.CodeNotFound)
	if list, _, err := f.Projects(f.ctx, manager("acme"), store.Page{}); err != nil || len(list) != 1 {
		f.Errorf("listed are %v, %v", list, err)
	}
	if got := f.sees(reader("ann"), chunks...); len(got) != 0 {
		f.Errorf("still seen: %q", got)
	}
	_, err = f.KeyByHash(f.ctx, "hash")
	f.wantCode(err, knowledge.CodeNotFound)
	_, _, err = f.AddVersion(f.ctx, upload("b.txt"))
	f.wantCode(err, knowledge.CodeNotFound)
	_, err = f.MarkRemoving(f.ctx, manager("acme"), v.Document, knowledge.NewID(), v.CreatedAt)
	f.wantCode(err, knowledge.CodeNotFound)
	if list, _, err := f.PendingRemovals(f.ctx, store.Position{}, 10); err != nil || len(list) != 0 {
		f.Errorf("the sweep removes %v, %v one by one", list, err)
	}
	again, err := f.RemoveProject(f.ctx, manager("acme"), "handbook", knowledge.NewID())
	f.must(err)
	if again.ID != run.ID || again.Kind != knowledge.KindRemoveProject {
		f.Errorf("a second request has the run %+v, the first %s", again, run.ID)
	}
	f.wantCode(f.CreateProject(f.ctx, knowledge.Project{ID: "handbook", Workspace: "acme", Name: "Handbook"}), knowledge.CodeConflict)
}

func projectHeld(f *fixture) {
	v, _ := f.publish(upload("a.txt"), "one")
	hold := true
	_, err := f.UpdateDocument(f.ctx, manager("acme"), v.Document, store.DocumentPatch{LegalHold: &hold})
	f.must(err)
	_, err = f.RemoveProject(f.ctx, manager("acme"), "handbook", knowledge.NewID())
	f.wantCode(err, knowledge.CodeConflict)
	_, err = f.Project(f.ctx, manager("acme"), "handbook")
	f.must(err)
}

func projectDropped(f *fixture) {
	v, _ := f.publish(upload("a.txt"), "one")
	_, ref := f.removeProject()
	if dropped, err := f.DropProject(f.ctx, ref); err != nil || dropped {
		f.Fatalf("a project with documents was dropped: %t, %v", dropped, err)
	}
	removals, err := f.ProjectRemovals(f.ctx, "acme", "handbook", "", 10)
	f.must(err)
	if len(removals) != 1 || removals[0].Document != v.Document {
		f.Fatalf("to be removed are %v", removals)
	}
	f.must(f.RemoveRows(f.ctx, removals[0]))
	runs, err := f.ProjectRuns(f.ctx, ref, false, 10)
	f.must(err)
	for _, run := range runs {
		f.must(f.DropRuns(f.ctx, "acme", []string{run.ID}))
	}
	for range 2 {
		if dropped, err := f.DropProject(f.ctx, ref); err != nil || !dropped {
			f.Fatalf("not dropped: %t, %v", dropped, err)
		}
	}
	if searched, err := f.SearchedGenerations(f.ctx, manager("acme"), nil); err != nil || len(searched) != 1 {
		f.Errorf("searched are %v, %v", searched, err)
	}
	_, err = f.RemoveProject(f.ctx, manager("acme"), "handbook", knowledge.NewID())
	f.wantCode(err, knowledge.CodeNotFound)
	_, _, err = f.AddVersion(f.ctx, upload("late.txt"))
	f.wantCode(err, knowledge.CodeNotFound)
	f.must(f.CreateProject(f.ctx, knowledge.Project{ID: "handbook", Workspace: "acme", Name: "New"}))
	f.publish(upload("a.txt"), "two")
}

func projectOthers(f *fixture) {
	_, chunks := f.publish(upload("a.txt", func(nv *store.NewVersion) { nv.Project = "press" }), "one")
	_, ref := f.removeProject()
	if dropped, err := f.DropProject(f.ctx, ref); err != nil || !dropped {
		f.Fatalf("not dropped: %t, %v", dropped, err)
	}
	if got := f.sees(reader("ann"), chunks...); len(got) != 1 {
		f.Errorf("of another project is seen %q", got)
	}
}
