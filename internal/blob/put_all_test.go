package blob_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairn-rag/cairn/internal/blob"
)

// slowBucket stores nothing, and takes a second for each blob.
type slowBucket struct {
	blob.Bucket // nil: PutAll calls no other method

	mu               sync.Mutex
	writing, atATime int
	stored           map[string]time.Duration // after how long
	begun            time.Time
	fail             string // the key whose write fails
}

var errFull = errors.New("the bucket is full")

func (b *slowBucket) Put(ctx context.Context, key string, r io.Reader) error {
	b.mu.Lock()
	b.writing++
	b.atATime = max(b.atATime, b.writing)
	b.mu.Unlock()
	_, err := io.Copy(io.Discard, r)
	if key == b.fail {
		err = errFull
	}
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		err = errors.Join(err, ctx.Err())
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.writing--
	if err == nil {
		b.stored[key] = time.Since(b.begun)
	}
	return err
}

func items(n int) []blob.Item {
	list := make([]blob.Item, n)
	for i := range list {
		list[i] = blob.Item{Key: fmt.Sprint("w/", i), Data: []byte("x")}
	}
	return list
}

// TestPutAllIntoABucket counts the requests that a bucket has to answer at a time.
func TestPutAllIntoABucket(t *testing.T) {
	t.Parallel()
	t.Run("writes_eight_at_a_time", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := &slowBucket{stored: map[string]time.Duration{}, begun: time.Now()}
			if err := blob.New(b).PutAll(t.Context(), items(20)...); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(b.begun); took != 3*time.Second || b.atATime != 8 || len(b.stored) != 20 {
				t.Errorf("%d blobs were stored in %s, %d at a time; want 20 in 3 s, 8 at a time", len(b.stored), took, b.atATime)
			}
		})
	})
	t.Run("waits_for_those_before", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := &slowBucket{stored: map[string]time.Duration{}, begun: time.Now()}
			list := items(5)
			list[3].After = true
			if err := blob.New(b).PutAll(t.Context(), list...); err != nil {
				t.Fatal(err)
			}
			if b.stored["w/2"] != time.Second || b.stored["w/3"] != 2*time.Second || b.stored["w/4"] != 2*time.Second {
				t.Errorf("blobs were stored after %v", b.stored)
			}
		})
	})
	t.Run("returns_the_first_failure", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			b := &slowBucket{stored: map[string]time.Duration{}, begun: time.Now(), fail: "w/1"}
			list := items(5)
			list[3].After = true
			err := blob.New(b).PutAll(t.Context(), list...)
			if !errors.Is(err, errFull) || b.stored["w/3"] != 0 {
				t.Errorf("error %v, stored %v; want the failure, and nothing after it", err, b.stored)
			}
		})
	})
}
