package azure

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	azblob "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"

	"github.com/cairn-rag/cairn/internal/blob"
)

// batchBlobs is the number of blobs that Azure deletes with one request at most.
const batchBlobs = 256

// Delete implements blob.Bucket.
func (b *Bucket) Delete(ctx context.Context, keys []string) error {
	return blob.DeleteBatches(ctx, keys, blob.Deletions{Size: batchBlobs, Batch: b.deleteBatch, One: b.deleteOne})
}

func (b *Bucket) deleteOne(ctx context.Context, key string) error {
	_, err := b.client.NewBlobClient(b.prefix+key).Delete(ctx, withSnapshots())
	return failure(ctx, err)
}

// withSnapshots returns the options of a removal that leaves nothing of a blob.
func withSnapshots() *azblob.DeleteOptions {
	return &azblob.DeleteOptions{DeleteSnapshots: to.Ptr(azblob.DeleteSnapshotsOptionTypeInclude)}
}

// lacksBatches reports whether a service without batches answers with the status.
func lacksBatches(status int) bool {
	return status == http.StatusMethodNotAllowed || status == http.StatusNotImplemented
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
	var response *http.Response
	answer, err := b.client.SubmitBatch(policy.WithCaptureResponse(ctx, &response), batch, nil)
	if response != nil {
		_ = response.Body.Close() // the client leaves it open, and with it the connection
	}
	if e, ok := errors.AsType[*azcore.ResponseError](err); ok && lacksBatches(e.StatusCode) {
		return nil, blob.ErrNoBatches
	}
	if err != nil {
		return nil, failure(ctx, err)
	}
	errs := make([]error, len(keys)) // in the order of the requests, whatever the order of the answers
	for i, item := range answer.Responses {
		if item.ContentID != nil {
			i = *item.ContentID
		}
		errs[i] = failure(ctx, item.Error)
	}
	return errs, nil
}
