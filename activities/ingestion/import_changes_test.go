package ingestion_test

import (
	"fmt"
	"net/url"
	"testing"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source/sourcetest"
)

// followChanges follows a fake of Drive, which tells changes.
func followChanges(t *testing.T) *followFixture {
	t.Helper()
	f := newFollowFixture(t, false)
	key, err := sourcetest.NewKey()
	f.Must(err)
	f.drive, f.page = sourcetest.NewDrive(f.world, key), 2
	f.drive.Exports = func(int) bool { return false }
	return f
}

func (f *followFixture) inDrive(file int) knowledge.Document {
	f.Helper()
	id := "https://drive.google.com/open?id=" + url.QueryEscape(fmt.Sprintf("item-%d", file))
	d, err := f.Store.Document(f.Ctx, activitytest.Manager(), knowledge.DocumentID("w", "p", id))
	f.Must(err)
	return d
}

// wantRun runs the sync, and checks its counts without the bytes.
func (f *followFixture) wantRun(what string, want knowledge.ImportCounts) {
	f.Helper()
	got := f.run()
	if got.Bytes = 0; got != want {
		f.Errorf("%s: %+v, want %+v", what, got, want)
	}
}

func TestFollowChanges(t *testing.T) {
	t.Parallel()
	f := followChanges(t)
	var files []int
	for n := range 5 {
		files = append(files, f.world.Create(0, fmt.Sprintf("%d.txt", n), false, fmt.Sprintf("Light number %d.", n)))
	}
	f.wantRun("the first run", knowledge.ImportCounts{Discovered: 5, Published: 5})

	// Only what has changed is listed, and the others stay.
	f.world.Edit(files[0], "Light number zero.")
	f.world.Trash(files[1], true)
	f.world.Edit(files[2], "Light number two.")
	f.world.Move(files[3], 0, "three.txt")
	f.wantRun("changes", knowledge.ImportCounts{Discovered: 3, Published: 3, Vanished: 1, Deleted: 1})
	if d := f.inDrive(files[3]); d.Name != "three.txt" || d.PublishedVersion != 1 {
		t.Errorf("the renamed file is %q in version %d", d.Name, d.PublishedVersion)
	}
	if d := f.inDrive(files[0]); d.PublishedVersion != 2 {
		t.Errorf("the edited file has version %d", d.PublishedVersion)
	}

	// Drive forgets the changes: everything is listed, and what is gone is found by its absence.
	f.world.Delete(files[4])
	f.drive.Expire()
	f.wantRun("after the token has expired", knowledge.ImportCounts{Discovered: 3, Skipped: 3, Vanished: 1, Deleted: 1})
	f.wantRun("without a change", knowledge.ImportCounts{})
}

// TestFollowFailures has a file that cannot be read: the next run tries it again, although it
// has not changed.
func TestFollowFailures(t *testing.T) {
	t.Parallel()
	f := followChanges(t)
	good := f.world.Create(0, "good.txt", false, "The lamp is lit.")
	bad := f.world.Create(0, "bad.txt", false, "The horn sounds.")
	f.drive.Unreadable = bad
	f.wantRun("with a file that cannot be read", knowledge.ImportCounts{Discovered: 2, Published: 1, Failed: 1})
	f.wantRun("again", knowledge.ImportCounts{Discovered: 1, Failed: 1})
	f.drive.Unreadable = 0
	f.wantRun("repaired", knowledge.ImportCounts{Discovered: 1, Published: 1})
	f.wantRun("without a change", knowledge.ImportCounts{})
	if a, b := f.inDrive(good), f.inDrive(bad); a.Status != knowledge.StatusPublished || b.Status != knowledge.StatusPublished {
		t.Errorf("the documents are %s and %s", a.Status, b.Status)
	}
}
