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

// ErrNoBatches is the error of a service that has no requests for several blobs.
var ErrNoBatches = errors.New("the blob store has no batches")

// Deletions are the requests with which a bucket deletes blobs.
type Deletions struct {
	// Size is the number of blobs that Batch deletes at most.
	Size int
	// Batch makes one request for several blobs. It returns an error for each of its keys,
	// nil for a blob that it deleted, or one error for the whole request: ErrNoBatches has
	// the blobs deleted by One.
	Batch func(ctx context.Context, keys []string) ([]error, error)
	// One makes one request for one blob.
	One func(ctx context.Context, key string) error
}

// DeleteBatches deletes blobs with as few requests as it can, some of them at the same
// time. A missing blob is no error. A batch that fails does not keep the others from being
// deleted.
func DeleteBatches(ctx context.Context, keys []string, d Deletions) error {
	if len(keys) == 1 {
		return d.each(ctx, keys)
	}
	var group errgroup.Group
	group.SetLimit(batchesAtATime)
	for batch := range slices.Chunk(keys, d.Size) {
		group.Go(func() error {
			if err := deleteBatch(ctx, batch, d.Batch); !errors.Is(err, ErrNoBatches) {
				return err
			}
			return d.each(ctx, batch)
		})
	}
	return group.Wait()
}

// each deletes blobs one by one, up to the first that fails.
func (d Deletions) each(ctx context.Context, keys []string) error {
	for batch := range slices.Chunk(keys, 1) {
		err := deleteBatch(ctx, batch, func(ctx context.Context, keys []string) ([]error, error) {
			return []error{d.One(ctx, keys[0])}, nil
		})
		if err != nil {
			return err
		}
	}
	return nil
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
