package blob

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// batchesAtATime is the number of requests that DeleteBatches makes at the same time.
	batchesAtATime = 4
	// batchTries is the number of tries for blobs whose removal failed inside a batch. An
	// activity repeats the whole with longer delays.
	batchTries = 3
	batchPause = 200 * time.Millisecond
)

// DeleteBatches deletes blobs with requests of up to size keys, some of them at the same
// time. remove makes one request. It returns an error for each of its keys, nil for a blob
// that it deleted, or one error for the whole request. A missing blob is no error. A batch
// that fails does not keep the others from being deleted.
func DeleteBatches(ctx context.Context, keys []string, size int, remove func(ctx context.Context, keys []string) ([]error, error)) error {
	var group errgroup.Group
	group.SetLimit(batchesAtATime)
	for batch := range slices.Chunk(keys, size) {
		group.Go(func() error { return deleteBatch(ctx, batch, remove) })
	}
	return group.Wait()
}

func deleteBatch(ctx context.Context, keys []string, remove func(context.Context, []string) ([]error, error)) error {
	for try := 1; ; try++ {
		errs, err := remove(ctx, keys)
		if err != nil {
			return err
		}
		left, first := undeleted(keys, errs)
		if len(left) == 0 {
			return nil
		}
		if try == batchTries {
			return fmt.Errorf("%d of %d blobs were not deleted, the first: %w", len(left), len(keys), first)
		}
		timer := time.NewTimer(time.Duration(try) * batchPause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		}
		keys = left
	}
}

// undeleted returns the keys whose blobs were not deleted, and the error of the first.
func undeleted(keys []string, errs []error) (left []string, first error) {
	for i, err := range errs {
		if err == nil || errors.Is(err, ErrNotFound) {
			continue
		}
		if left = append(left, keys[i]); first == nil {
			first = err
		}
	}
	return left, first
}
