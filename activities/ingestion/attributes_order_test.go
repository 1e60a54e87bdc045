package ingestion_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/store"
)

// heldIndex is the index of one process. It stops before its first write of attributes.
type heldIndex struct {
	f       *fixture
	once    sync.Once
	reached chan struct{} // closed before the first write
	proceed chan error    // lets it write, or fail
}

func (f *fixture) holdIndex() *heldIndex {
	return &heldIndex{f: f, reached: make(chan struct{}), proceed: make(chan error, 1)}
}

// SetAttributes implements the index of ingestion.Attributes.
func (h *heldIndex) SetAttributes(ctx context.Context, workspace, document string, version int, a index.Attributes) error {
	var err error
	h.once.Do(func() {
		close(h.reached)
		err = <-h.proceed
	})
	if err != nil {
		return err
	}
	return h.f.Index.SetAttributes(context.WithoutCancel(ctx), workspace, document, version, a)
}

// other opens the database as another process does. Its clock is ahead by what after
// returns.
func (f *fixture) other(after func() time.Duration) *store.Store {
	f.Helper()
	s, err := store.Open(f.Ctx, store.Config{URL: "sqlite://" + filepath.Join(f.Dir, "cairn.db"), Joined: true, Clock: func() time.Time { return time.Now().Add(after()) }})
	f.Must(err)
	f.Cleanup(func() { f.Must(s.Close()) })
	return s
}

func now() time.Duration { return 0 }

// tagBy changes the tags of a document in SQL by one process.
func (f *fixture) tagBy(s *store.Store, document, tag string) {
	f.Helper()
	tags := []string{tag}
	_, err := s.UpdateDocument(f.Ctx, activitytest.Manager(), document, store.DocumentPatch{Tags: &tags})
	f.Must(err)
}

// dying is the store of a process that dies behind its write to the index.
type dying struct{ *store.Store }

func (dying) InIndex(context.Context, store.StaleDocument) (bool, error) {
	return false, activitytest.ErrKilled
}

// onlyTag fails the test unless the index has one tag of two, and nothing is stale.
func (f *fixture) onlyTag(want, old string) {
	f.Helper()
	if f.tagged(want) != 2 || f.tagged(old) != 0 {
		f.Errorf("entries with the tag %s: %d, with %s: %d", want, f.tagged(want), old, f.tagged(old))
	}
	if left, err := f.Store.StaleInIndex(f.Ctx, 10); err != nil || len(left) != 0 {
		f.Errorf("stale are %q, %v", left, err)
	}
}

// TestAttributesOfTwoProcesses changes a document in two processes. The first one has read
// its attributes and stops before it writes them to the index.
func TestAttributesOfTwoProcesses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		late time.Duration // between the two changes
		fail error         // of the first process's write to the index
		dies bool          // the first process, behind that write
		// sweeps repeats what the processes do every minute.
		sweeps bool
	}{
		"the first process writes both changes in order":                         {},
		"a first process that fails is followed when its lease has expired":      {fail: activitytest.ErrKilled, sweeps: true},
		"a first process that dies behind its write is followed too":             {dies: true, sweeps: true},
		"older attributes that are written behind a lost lease are written over": {late: time.Hour, sweeps: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFixture(t)
			in := f.Upload("a.txt", twoParts(1))
			f.Publish(in)
			late := time.Duration(0)
			first, second := f.other(now), f.other(func() time.Duration { return late })
			held := f.holdIndex()
			slow := &ingestion.Attributes{Store: first, Index: held}
			want := c.fail
			if c.dies {
				slow.Store, want = dying{first}, activitytest.ErrKilled
			}
			fast := &ingestion.Attributes{Store: second, Index: f.Index}
			f.tagBy(first, in.Document, "first")
			ended := make(chan error, 1)
			go func() { ended <- slow.UpdateIndex(f.Ctx, in.Document) }()
			<-held.reached
			late = c.late
			f.tagBy(second, in.Document, "second")
			f.Must(fast.UpdateIndex(f.Ctx, in.Document))
			held.proceed <- c.fail
			if err := <-ended; !errors.Is(err, want) {
				t.Fatal(err)
			}
			if c.sweeps {
				late += time.Minute
				f.Must(fast.UpdateIndex(f.Ctx, ""))
			}
			f.onlyTag("second", "first")
		})
	}
}
