package audit_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/cairn-rag/cairn/internal/audit"
)

// gate is a Sink whose commits wait until they are let through.
type gate struct {
	through chan error
	mu      sync.Mutex
	commits [][]audit.Row
}

func (g *gate) Append(_ context.Context, rows []audit.Row) error {
	err := <-g.through
	g.mu.Lock()
	defer g.mu.Unlock()
	g.commits = append(g.commits, rows)
	return err
}

// TestReadersShareACommit lets a commit wait while others ask for theirs: all of these are
// one commit.
func TestReadersShareACommit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := &gate{through: make(chan error)}
		r := audit.NewRecorder(g)
		failed := make(chan error, 21)
		record := func(n int) {
			go func() { failed <- r.Record(t.Context(), audit.Row{ID: fmt.Sprint(n)}) }()
			synctest.Wait()
		}
		for n := range 21 {
			record(n)
		}
		g.through <- nil
		synctest.Wait()
		if len(failed) != 1 {
			t.Errorf("%d readers were answered after the first commit, want 1", len(failed))
		}
		full := errors.New("disk full")
		g.through <- full
		synctest.Wait()
		if len(g.commits) != 2 || len(g.commits[1]) != 20 {
			t.Fatalf("there were %d commits", len(g.commits))
		}
		if err := <-failed; err != nil {
			t.Error(err)
		}
		for range 20 {
			if err := <-failed; !errors.Is(err, full) {
				t.Errorf("a row that was not kept: %v", err)
			}
		}
	})
}

// ids are the rows of a journal.
func ids(j *audit.Journal) []string {
	var list []string
	rows, _ := j.Take()
	for _, row := range rows {
		list = append(list, row.ID)
	}
	return list
}

func openJournal(t *testing.T, path string, done audit.Position) *audit.Journal {
	t.Helper()
	j, err := audit.OpenJournal(path, done)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() }) // some are closed by the test
	return j
}

func appendTo(t *testing.T, j *audit.Journal, id string) {
	t.Helper()
	if err := j.Append(t.Context(), []audit.Row{{ID: id, Entry: audit.Entry{At: at(1)}}}); err != nil {
		t.Fatal(err)
	}
}

func TestJournalOutlivesItsProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.journal")
	first := openJournal(t, path, audit.Position{})
	appendTo(t, first, "a")
	_, done := first.Take()
	appendTo(t, first, "b")
	if again := openJournal(t, path, done); !slices.Equal(ids(again), []string{"b"}) {
		t.Errorf("after a kill: %v, want what the database has not", ids(again))
	}
	again := openJournal(t, path, audit.Position{})
	if !slices.Equal(ids(again), []string{"a", "b"}) {
		t.Errorf("beside a database that has nothing: %v", ids(again))
	}
	appendTo(t, again, "c")
	_, all := again.Take()
	third := openJournal(t, path, all)
	if len(ids(third)) != 0 {
		t.Errorf("beside a database that has all: %v", ids(third))
	}
	appendTo(t, third, "d") // over the lines of the round before
	if last := openJournal(t, path, all); !slices.Equal(ids(last), []string{"d"}) {
		t.Errorf("in a new round: %v", ids(last))
	}
}

// TestJournalBeginsAnew writes more than the journal has room for, while the database takes all.
func TestJournalBeginsAnew(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.journal")
	j := openJournal(t, path, audit.Position{})
	var done audit.Position
	long := make([]byte, 64<<10)
	for i := range long {
		long[i] = 'x'
	}
	for n := range 40 {
		appendTo(t, j, fmt.Sprintf("%d %s", n, long))
		var rows []audit.Row
		rows, done = j.Take()
		j.Done(len(rows))
	}
	if done.Round < 3 {
		t.Errorf("the journal is in round %d after 2.6 MB", done.Round)
	}
	appendTo(t, j, "last")
	if again := openJournal(t, path, done); !slices.Equal(ids(again), []string{"last"}) {
		t.Errorf("found %d rows", len(ids(again)))
	}
}

// TestARowThatFollowsOutlivesItsProcess takes a row that nobody waits for: the file has it when
// Follow returns.
func TestARowThatFollowsOutlivesItsProcess(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.journal")
	r := audit.NewRecorder(openJournal(t, path, audit.Position{}))
	r.Follow(t.Context(), audit.Row{ID: "a", Entry: audit.Entry{At: at(1)}}, func(err error) { t.Error(err) })
	if again := openJournal(t, path, audit.Position{}); !slices.Equal(ids(again), []string{"a"}) {
		t.Errorf("found %v", ids(again))
	}
}
