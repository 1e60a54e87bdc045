package ingestion_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

// eachDirectory calls a test for each service that tells the members of groups: a library of
// SharePoint, and a space of Confluence that everybody of the test sees.
func eachDirectory(t *testing.T, test func(t *testing.T, f *followFixture)) {
	t.Helper()
	t.Run("SharePoint", func(t *testing.T) {
		t.Parallel()
		f := newFollowFixture(t, true)
		f.world = sourcetest.NewWorld("ann@example.org")
		f.graph = sourcetest.NewMSGraph(f.world)
		test(t, f)
	})
	for _, cloud := range []bool{true, false} {
		t.Run(fmt.Sprintf("Confluence, cloud %t", cloud), func(t *testing.T) {
			t.Parallel()
			f := newFollowFixture(t, true)
			f.world = sourcetest.NewWorld("ann@example.org")
			f.world.Pages = true
			f.wiki = sourcetest.NewConfluence(f.world, cloud)
			f.world.Share(0, []string{"bob@example.org", "eve@example.org", "zoe@example.org"}, []string{"staff", "crew", "board"})
			test(t, f)
		})
	}
}

// readerNow is a person of the workspace as of now: in the groups in which the service has the
// person.
func (f *followFixture) readerNow(name string) knowledge.Principal {
	f.Helper()
	groups, err := f.Store.ConnectionGroups(f.Ctx, "w", name)
	f.Must(err)
	return readerOf(name, groups...)
}

// wantReaders checks who of some people reads the passages of a file.
func (f *followFixture) wantReaders(file int, want ...string) {
	f.Helper()
	var got []string
	for _, name := range []string{"ann", "bob", "eve", "zoe"} {
		if len(f.reads(f.readerNow(name+"@example.org"), []int{file})) > 0 {
			got = append(got, name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		f.Errorf("who reads the file (-want +got):\n%s", diff)
	}
}

// TestFollowedMembers changes who is in a group of a group: no file changes with it, and nothing
// is embedded.
func TestFollowedMembers(t *testing.T) {
	t.Parallel()
	eachDirectory(t, followedMembers)
}

func followedMembers(t *testing.T, f *followFixture) {
	t.Helper()
	file := f.world.Create(0, "a.txt", false, "The keys of the lamp room hang behind the door.")
	f.world.Share(file, []string{"ann@example.org"}, []string{"staff"})
	f.world.Join("staff", "crew")
	f.world.Join("crew", "bob@example.org", "staff")
	f.run()
	f.wantReaders(file, "ann", "bob")
	embedded, version := f.Server.Totals().Texts, f.document(file).PublishedVersion
	wantUnresolved := func(want int64) {
		t.Helper()
		if n, err := f.Store.UnresolvedGroups(f.Ctx, activitytest.Manager(), "c"); err != nil || n != want {
			t.Errorf("%d groups are not resolved, %v; want %d", n, err, want)
		}
	}
	wantUnresolved(0)
	f.world.Join("crew", "eve@example.org")
	f.world.Join("staff", "crew", "zoe@example.org")
	if got := f.run(); f.wiki == nil && got != (knowledge.ImportCounts{}) || got.Bytes != 0 { // Confluence is listed in each run
		t.Errorf("a change of members lists and reads %+v", got)
	}
	f.wantReaders(file, "ann", "eve", "zoe")
	f.world.Disband("staff")
	f.run()
	f.wantReaders(file, "ann")
	wantUnresolved(1)
	if d := f.document(file); d.PublishedVersion != version || f.Server.Totals().Texts != embedded {
		t.Errorf("the document has version %d, was %d; %d texts were embedded", d.PublishedVersion, version, f.Server.Totals().Texts-embedded)
	}
}

// TestFollowedGroups changes files, shares and groups at random, circles among them, and asks
// after each run for each person which passages are found: exactly those of the files that the
// person sees in the service.
func TestFollowedGroups(t *testing.T) {
	t.Parallel()
	eachDirectory(t, followedGroups)
}

func followedGroups(t *testing.T, f *followFixture) {
	t.Helper()
	random := rand.New(rand.NewPCG(8, 8))
	var files []int
	for n := range 5 {
		files = append(files, f.world.Create(0, fmt.Sprintf("%d.txt", n), false, fmt.Sprintf("The secret of file %d is kept.", n)))
	}
	groups, people := []string{"staff", "crew", "board"}, []string{"bob@example.org", "eve@example.org", "zoe@example.org"}
	some := func(names []string) (list []string) {
		for _, name := range names {
			if random.IntN(3) == 0 {
				list = append(list, name)
			}
		}
		return list
	}
	hidden, shown := 0, 0
	for round := range 25 {
		for range 1 + random.IntN(3) {
			switch file := files[random.IntN(len(files))]; random.IntN(4) {
			case 0:
				f.world.Edit(file, fmt.Sprintf("The secret of file %d was changed in round %d.", file, round))
			case 1:
				f.world.Share(file, append(some(people), "ann@example.org"), some(groups))
			default:
				f.world.Join(groups[random.IntN(len(groups))], some(append(people, groups...))...)
			}
		}
		f.run()
		for _, name := range people {
			want := []string{}
			for id, file := range f.world.Files() {
				if slices.Contains(f.world.People(file.Access.Users, file.Access.Groups), name) {
					want = append(want, f.idOf(id)+" "+file.Content)
				}
			}
			slices.Sort(want)
			hidden, shown = hidden+len(files)-len(want), shown+len(want)
			if diff := cmp.Diff(want, f.reads(f.readerNow(name), files)); diff != "" {
				t.Fatalf("round %d, %s (-sees in the service +finds):\n%s", round, name, diff)
			}
		}
		if got := f.reads(f.readerNow("ann@example.org"), files); len(got) != len(files) {
			t.Fatalf("round %d: the owner finds %v", round, got)
		}
	}
	if hidden < 50 || shown < 50 {
		t.Errorf("%d times a file was hidden, and %d times shown: the test shows too little", hidden, shown)
	}
}
