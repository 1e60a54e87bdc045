package azure

import (
	"context"
	"fmt"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	azblob "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/cairn-rag/cairn/internal/blob"
)

// batchBlobs is the number of blobs that Azure deletes with one request at most.
const batchBlobs = 256

// Delete implements blob.Bucket.
func (b *Bucket) Delete(ctx context.Context, keys []string) error {
	if len(keys) > 1 {
		return blob.DeleteBatches(ctx, keys, batchBlobs, b.deleteBatch)
	}
	return blob.DeleteBatches(ctx, keys, 1, func(ctx context.Context, keys []string) ([]error, error) {
		_, err := b.client.NewBlobClient(b.prefix+keys[0]).Delete(ctx, withSnapshots())
		return []error{failure(ctx, err)}, nil
	})
}

// withSnapshots returns the options of a removal that leaves nothing of a blob.
func withSnapshots() *azblob.DeleteOptions {
	return &azblob.DeleteOptions{DeleteSnapshots: to.Ptr(azblob.DeleteSnapshotsOptionTypeInclude)}
}

// deleteBatch deletes blobs with one request.
func (b *Bucket) deleteBatch(ctx context.Context, keys []string) ([]error, error) {
	batch, err := b.client.NewBatchBuilder()
	if err != nil {
		return nil, fmt.Errorf("prepare a batch: %w", err)
	}
	for _, key := range keys {
		if err := batch.Delete(b.prefix+key, &container.BatchDeleteOptions{DeleteOptions: *withSnapshots()}); err != nil {
			return nil, fmt.Errorf("add %s to a batch: %w", key, err)
		}
	}
	answer, err := b.client.SubmitBatch(ctx, batch, nil)
	if err != nil {
		return nil, failure(ctx, err)
	}
	errs := make([]error, len(keys)) // in the order of the requests, whatever that of the answers
	for i, item := range answer.Responses {
		if item.ContentID != nil {
			i = *item.ContentID
		}
		errs[i] = failure(ctx, item.Error)
	}
	return errs, nil
}
