package storetest

import (
	"fmt"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// wantGroups checks in which groups of services somebody of acme is.
func (f *fixture) wantGroups(member string, want ...string) {
	f.Helper()
	got, err := f.ConnectionGroups(f.ctx, "acme", member)
	f.must(err)
	if diff := cmp.Diff(want, got); diff != "" {
		f.Errorf("the groups of %s (-want +got):\n%s", member, diff)
	}
}

// wantToRead checks whose members a run has to read, of groups that objects name and of others.
func (f *fixture) wantToRead(i store.Import, named []string, want ...string) {
	f.Helper()
	got, err := f.GroupsToRead(f.ctx, i, named)
	f.must(err)
	if diff := cmp.Diff(want, got); diff != "" {
		f.Errorf("to be read (-want +got):\n%s", diff)
	}
}

// wantUnresolved checks how many groups the service of the sync y does not tell completely.
func (f *fixture) wantUnresolved(want int64) {
	f.Helper()
	if n, err := f.UnresolvedGroups(f.ctx, manager("acme"), "c-y"); err != nil || n != want {
		f.Errorf("%d groups are not resolved, %v; want %d", n, err, want)
	}
}

func groupsRead(f *fixture) {
	y := f.sync()
	one := f.syncRun(y)
	f.wantToRead(one, []string{"crew", "staff"}, "crew", "staff")
	f.wantUnresolved(0) // none was read
	many := []string{"ann", "bob"}
	for n := range 1200 {
		many = append(many, fmt.Sprintf("keeper %d", n))
	}
	for range 2 {
		f.must(f.SetGroupMembers(f.ctx, one, "crew", many, true))
	}
	f.wantToRead(one, []string{"crew"}, "staff")
	f.must(f.SetGroupMembers(f.ctx, one, "staff", []string{"ann", "eve"}, false))
	f.wantToRead(one, nil)
	f.wantUnresolved(1)
	f.wantGroups("ann", "crew", "staff")
	f.wantGroups("bob", "crew")
	f.wantGroups("keeper 1199", "crew")
	f.wantGroups("zoe")
	if got, err := f.ConnectionGroups(f.ctx, "other", "ann"); err != nil || len(got) > 0 {
		f.Errorf("in another workspace she is in %v, %v", got, err)
	}
	f.endImport(one)
	two := f.syncRun(y)
	f.wantToRead(two, nil, "crew", "staff")
	f.must(f.SetGroupMembers(f.ctx, two, "crew", []string{"bob", "zoe"}, true))
	f.must(f.SetGroupMembers(f.ctx, one, "crew", []string{"ann"}, true)) // late
	f.must(f.SetGroupMembers(f.ctx, two, "staff", []string{"ann"}, true))
	f.wantUnresolved(0)
	f.wantGroups("ann", "staff")
	f.wantGroups("bob", "crew")
	f.wantGroups("zoe", "crew")
	f.wantGroups("eve")
	f.wantGroups("keeper 1199")
	_, err := f.UnresolvedGroups(f.ctx, reader("ann"), "c-y")
	f.wantCode(err, knowledge.CodeForbidden)
}

func groupsGone(f *fixture) {
	y := f.sync()
	i := f.syncRun(y)
	f.wantToRead(i, []string{"crew"}, "crew")
	f.must(f.SetGroupMembers(f.ctx, i, "crew", []string{"ann"}, true))
	f.wantGroups("ann", "crew")
	_, err := f.RemoveSync(f.ctx, manager("acme"), y.ID)
	f.must(err)
	f.wantGroups("ann", "crew") // the documents stay, too
	f.must(f.RemoveConnection(f.ctx, manager("acme"), y.Connection))
	f.wantGroups("ann")
	_, err = f.GroupsToRead(f.ctx, i, []string{"crew"}) // the run has not heard of it
	f.wantCode(err, knowledge.CodeNotFound)
	f.wantCode(f.SetGroupMembers(f.ctx, i, "crew", []string{"ann"}, true), knowledge.CodeNotFound)
	f.wantGroups("ann")
}
