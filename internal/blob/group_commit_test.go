package blob_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/blob"
)

// gate holds the first commit of a store until it is opened, and records the keys
// of every commit.
type gate struct {
	*blob.Store
	reached, opened chan struct{}

	mu      sync.Mutex
	commits [][]string
	fail    func(keys []string) error
}

func openGated(t *testing.T, address string) *gate {
	t.Helper()
	g := &gate{Store: open(t, address), reached: make(chan struct{}), opened: make(chan struct{})}
	blob.SetBeforeCommit(g.Store, func(keys []string) error {
		g.mu.Lock()
		g.commits = append(g.commits, slices.Sorted(slices.Values(keys)))
		first, fail := len(g.commits) == 1, g.fail
		g.mu.Unlock()
		if first {
			close(g.reached)
			<-g.opened
		}
		if fail != nil {
			return fail(keys)
		}
		return nil
	})
	return g
}

// put starts a write and returns its result.
func (g *gate) put(ctx context.Context, key string) <-chan error {
	result := make(chan error, 1)
	go func() {
		_, err := g.Put(ctx, key, []byte("text of "+key))
		result <- err
	}()
	return result
}

// await blocks until n changes wait for a commit.
func (g *gate) await(t *testing.T, n int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); blob.Waiting(g.Store) != n; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d changes wait, want %d", blob.Waiting(g.Store), n)
		}
	}
}

func TestWritesShareACommit(t *testing.T) {
	t.Parallel()
	g := openGated(t, folderURL(t.TempDir()))
	results := []<-chan error{g.put(t.Context(), "w/first")}
	<-g.reached
	var want []string
	for i := range 31 {
		want = append(want, fmt.Sprintf("w/%02d", i))
		results = append(results, g.put(t.Context(), want[i]))
	}
	g.await(t, 31)
	if got, err := g.Exists(t.Context(), "w/first"); got || err != nil {
		t.Errorf("a blob is seen before its commit: %v", err)
	}
	close(g.opened)
	for _, r := range results {
		if err := <-r; err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff([][]string{{"w/first"}, want}, g.commits); diff != "" {
		t.Errorf("commits: %s", diff)
	}
}

func TestBlobsThatAreStoredTogetherShareACommit(t *testing.T) {
	t.Parallel()
	g := openGated(t, folderURL(t.TempDir()))
	close(g.opened)
	small := func(key string) blob.Item { return blob.Item{Key: key, Data: []byte("text")} }
	if err := g.PutAll(t.Context(), small("w/a"), small("w/b"), blob.Item{Key: "w/c", Data: large}, small("w/d"), small("w/e")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]string{{"w/a", "w/b"}, {"w/d", "w/e"}}, g.commits); diff != "" {
		t.Errorf("commits: %s", diff)
	}
}

func TestAFailedCommitFailsItsOwnWritesOnly(t *testing.T) {
	t.Parallel()
	g := openGated(t, folderURL(t.TempDir()))
	broken := errors.New("this one cannot be written")
	g.fail = func(keys []string) error {
		if slices.Contains(keys, "w/broken") {
			return broken
		}
		return nil
	}
	first := g.put(t.Context(), "w/first")
	<-g.reached
	good, bad, other := g.put(t.Context(), "w/good"), g.put(t.Context(), "w/broken"), g.put(t.Context(), "w/other")
	g.await(t, 3)
	close(g.opened)
	for _, r := range []<-chan error{first, good, other} {
		if err := <-r; err != nil {
			t.Error(err)
		}
	}
	if err := <-bad; !errors.Is(err, broken) {
		t.Errorf("got error %v, want its own", err)
	}
	for key, want := range map[string]bool{"w/first": true, "w/good": true, "w/other": true, "w/broken": false} {
		if got, err := g.Exists(t.Context(), key); got != want || err != nil {
			t.Errorf("%s exists: %v, %v, want %v", key, got, err, want)
		}
	}
}

func TestACanceledWrite(t *testing.T) {
	t.Parallel()
	g := openGated(t, folderURL(t.TempDir()))
	running, stop := context.WithCancel(t.Context())
	first := g.put(running, "w/first")
	<-g.reached
	waiting, cancel := context.WithCancel(t.Context())
	second := g.put(waiting, "w/second")
	g.await(t, 1)
	again := g.put(waiting, "w/first") // waits for the other write of the same blob

	cancel()
	for _, r := range []<-chan error{second, again} { // although the commit still runs
		if err := <-r; !errors.Is(err, context.Canceled) {
			t.Errorf("got error %v, want canceled", err)
		}
	}
	stop() // too late: its commit runs
	close(g.opened)
	if err := <-first; err != nil {
		t.Errorf("a write that was committed returned %v", err)
	}
	if err := <-g.put(t.Context(), "w/third"); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][]string{{"w/first"}, {"w/third"}}, g.commits); diff != "" {
		t.Errorf("commits: %s", diff)
	}
	for key, want := range map[string]bool{"w/first": true, "w/second": false} {
		if got, err := g.Exists(t.Context(), key); got != want || err != nil {
			t.Errorf("%s exists: %v, %v, want %v", key, got, err, want)
		}
	}
}

func TestCloseWaitsForAcceptedWrites(t *testing.T) {
	t.Parallel()
	address := folderURL(t.TempDir())
	g := openGated(t, address)
	first := g.put(t.Context(), "w/first")
	<-g.reached
	second := g.put(t.Context(), "w/second")
	g.await(t, 1)
	closed := make(chan error, 1)
	go func() { closed <- g.Close() }()
	for { // until the store refuses writes
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		err := <-g.put(ctx, "w/late")
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			if err == nil {
				t.Error("a closed store took a write")
			}
			break
		}
	}
	close(g.opened)
	for _, r := range []<-chan error{first, second, closed} {
		if err := <-r; err != nil {
			t.Error(err)
		}
	}
	s := open(t, address)
	for key, want := range map[string]bool{"w/first": true, "w/second": true, "w/late": false} {
		if got, err := s.Exists(t.Context(), key); got != want || err != nil {
			t.Errorf("%s exists: %v, %v, want %v", key, got, err, want)
		}
	}
}

func TestReadsDoNotWaitForACommit(t *testing.T) {
	t.Parallel()
	g := openGated(t, folderURL(t.TempDir()))
	first := g.put(t.Context(), "w/k")
	<-g.reached
	close(g.opened)
	if err := <-first; err != nil {
		t.Fatal(err)
	}
	reached, release := make(chan struct{}), make(chan struct{})
	g.mu.Lock()
	g.fail = func([]string) error {
		close(reached)
		<-release
		return nil
	}
	g.mu.Unlock()
	second := make(chan error, 1)
	go func() {
		_, err := g.Put(t.Context(), "w/k", []byte("new"))
		second <- err
	}()
	<-reached // the transaction holds the write lock
	if got, err := g.Get(t.Context(), "w/k"); string(got) != "text of w/k" || err != nil {
		t.Errorf("got %q, %v, want the old text", got, err)
	}
	if err := g.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	close(release)
	if err := <-second; err != nil {
		t.Fatal(err)
	}
	if got, err := g.Get(t.Context(), "w/k"); string(got) != "new" || err != nil {
		t.Errorf("got %q, %v, want the new text", got, err)
	}
}
