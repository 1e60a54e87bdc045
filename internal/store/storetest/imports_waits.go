package storetest

import (
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// heldImport has steps of an import wait: they are counted, and told until it does not run.
func heldImport(f *fixture) {
	i := f.imported("bucket")
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	wait := func(page int, step string, objects int, minutes time.Duration) {
		f.must(f.SetImportWait(f.ctx, i, store.ImportWait{
			Page: page, Step: step, Objects: objects, NextAt: at.Add(minutes * time.Minute), Code: knowledge.CodeProviderFailed, Message: step + " waits",
		}))
	}
	waiting := func() *knowledge.ImportWaiting {
		now, err := f.ImportForSystem(f.ctx, i.ImportRef)
		f.must(err)
		return now.Waiting
	}
	held := func() []store.HeldImport {
		list, err := f.HeldForSystem(f.ctx)
		f.must(err)
		return list
	}
	if waiting() != nil || held() != nil {
		f.Error("a new import waits")
	}
	wait(0, "batch 0", 50, 3)
	wait(0, "batch 50", 20, 2)
	wait(2, "large 7", 1, 5)
	since := waiting().Since
	wait(0, "batch 0", 40, 4) // again
	want := &knowledge.ImportWaiting{Documents: 61, Since: since, NextAt: at.Add(2 * time.Minute), Code: knowledge.CodeProviderFailed, Message: "batch 50 waits"}
	if diff := cmp.Diff(want, waiting()); diff != "" || since.IsZero() {
		f.Errorf("waiting (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]store.HeldImport{{ImportRef: i.ImportRef, Pages: []int{0, 2}, Objects: 61}}, held()); diff != "" {
		f.Errorf("held (-want +got):\n%s", diff)
	}
	f.wantHeld(i.Import)
	pending, err := f.PendingCounts(f.ctx)
	f.must(err)
	if len(pending) != 1 || pending[0].Count != 61 || pending[0].Code != knowledge.CodeProviderFailed || !pending[0].Oldest.Equal(since) {
		f.Errorf("pending %+v", pending)
	}
	for _, step := range []string{"batch 0", "batch 50"} {
		wait(0, step, 0, 0)
		wait(0, step, 0, 0)
	}
	if now := waiting(); now == nil || now.Documents != 1 {
		f.Errorf("waiting %+v", now)
	}
	f.must(f.SetImportStatus(f.ctx, i.ImportRef, knowledge.ImportPaused))
	f.must(f.SetImportStatus(f.ctx, i.ImportRef, knowledge.ImportRunning))
	if waiting() != nil {
		f.Error("it waits after a pause")
	}
	wait(2, "large 7", 1, 5)
	f.endImport(i)
	if waiting() != nil || held() != nil {
		f.Error("it waits after its end")
	}
}

// wantHeld compares who sees the one import that is held.
func (f *fixture) wantHeld(id string) {
	for _, tc := range []struct {
		p           knowledge.Principal
		project, id string
		code        knowledge.Code
		want        int
	}{
		{manager("acme"), "", "", "", 1},
		{manager("acme"), "handbook", id, knowledge.CodeProviderFailed, 1},
		{manager("acme"), "", "", knowledge.CodeCorrupt, 0},
		{manager("acme"), "other", "", "", 0},
		{manager("acme"), "", "other", "", 0},
		{manager("globex"), "", "", "", 0},
	} {
		list, err := f.HeldImports(f.ctx, tc.p, tc.project, tc.id, tc.code)
		if f.must(err); len(list) != tc.want {
			f.Errorf("project %q, import %q, code %q: %+v", tc.project, tc.id, tc.code, list)
		}
	}
}
