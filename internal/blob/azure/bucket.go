package azure

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/streaming"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/to"
	"github.com/Azure/azure-sdk-for-go/sdk/azidentity"
	azblob "github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/blockblob"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/container"
	"github.com/Azure/azure-sdk-for-go/sdk/storage/azblob/sas"

	"github.com/cairn-rag/cairn/internal/blob"
)

const (
	// blockBytes is the size of the blocks of a large blob, and the memory that each
	// upload of one takes.
	blockBytes  = 8 << 20
	contentType = "application/octet-stream"
)

// Put implements blob.Bucket. A blob above blockBytes is sent in blocks, which Azure drops
// after a week if the upload is not completed.
func (b *Bucket) Put(ctx context.Context, key string, r io.Reader) error {
	return b.put(ctx, key, r, nil)
}

// Replace implements blob.Replacer.
func (b *Bucket) Replace(ctx context.Context, key string, change func(io.Reader) (io.Reader, error)) (bool, error) {
	out, err := b.client.NewBlobClient(b.prefix+key).DownloadStream(ctx, nil)
	if err = failure(ctx, err); errors.Is(err, blob.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer out.Body.Close()
	changed, err := change(out.Body)
	if err != nil || changed == nil {
		return false, err
	}
	err = b.put(ctx, key, changed, &azblob.AccessConditions{ModifiedAccessConditions: &azblob.ModifiedAccessConditions{IfMatch: out.ETag}})
	if refused, ok := errors.AsType[*azcore.ResponseError](err); ok && (refused.StatusCode == http.StatusPreconditionFailed || refused.StatusCode == http.StatusNotFound) {
		return false, nil
	}
	return err == nil, err
}

// put stores the bytes of r, if only is nil or holds of what is there.
func (b *Bucket) put(ctx context.Context, key string, r io.Reader, only *azblob.AccessConditions) error {
	first, err := io.ReadAll(io.LimitReader(r, blockBytes))
	if err != nil {
		return fmt.Errorf("read the bytes to store: %w", err)
	}
	to := b.client.NewBlockBlobClient(b.prefix + key)
	headers := &azblob.HTTPHeaders{BlobContentType: ptr(contentType)}
	if len(first) < blockBytes {
		_, err = to.Upload(ctx, streaming.NopCloser(bytes.NewReader(first)), &blockblob.UploadOptions{HTTPHeaders: headers, AccessConditions: only})
		return failure(ctx, err)
	}
	rest := &blob.Source{Reader: r}
	err = putBlocks(ctx, to, first, rest, &blockblob.CommitBlockListOptions{HTTPHeaders: headers, AccessConditions: only})
	if rest.Err != nil {
		return fmt.Errorf("read the bytes to store: %w", rest.Err)
	}
	return failure(ctx, err)
}

// putBlocks stores a blob block by block, and then the list of them. The SDK's own upload
// of a stream keeps its blocks in memory that it unmaps when a request fails. The
// connection may read from it still, which ends the process.
func putBlocks(ctx context.Context, to *blockblob.Client, first []byte, rest io.Reader, commit *blockblob.CommitBlockListOptions) error {
	var upload [8]byte
	_, _ = rand.Read(upload[:]) // crypto/rand never fails; blocks of another upload of the blob have other names
	var names []string
	for block := first; len(block) > 0; {
		name := base64.StdEncoding.EncodeToString(fmt.Appendf(upload[:], "%08d", len(names)))
		if _, err := to.StageBlock(ctx, name, streaming.NopCloser(bytes.NewReader(block)), nil); err != nil {
			return fmt.Errorf("store block %d: %w", len(names), err)
		}
		names = append(names, name)
		var err error
		if block, err = io.ReadAll(io.LimitReader(rest, blockBytes)); err != nil {
			return fmt.Errorf("read block %d: %w", len(names), err)
		}
	}
	_, err := to.CommitBlockList(ctx, names, commit)
	return err
}

// Open implements blob.Bucket.
func (b *Bucket) Open(ctx context.Context, key string) (io.ReadCloser, int64, error) {
	out, err := b.client.NewBlobClient(b.prefix+key).DownloadStream(ctx, nil)
	if err != nil {
		return nil, 0, failure(ctx, err)
	}
	return out.Body, *out.ContentLength, nil
}

// OpenAt implements blob.Bucket.
func (b *Bucket) OpenAt(ctx context.Context, key string, offset int64) (io.ReadCloser, error) {
	out, err := b.client.NewBlobClient(b.prefix+key).DownloadStream(ctx, &azblob.DownloadStreamOptions{Range: azblob.HTTPRange{Offset: offset}})
	if err != nil {
		return nil, failure(ctx, err)
	}
	return out.Body, nil
}

// Exists implements blob.Bucket.
func (b *Bucket) Exists(ctx context.Context, key string) (bool, error) {
	_, err := b.client.NewBlobClient(b.prefix+key).GetProperties(ctx, nil)
	if err = failure(ctx, err); errors.Is(err, blob.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// List implements blob.Bucket.
func (b *Bucket) List(ctx context.Context, prefix string) iter.Seq2[blob.Object, error] {
	return func(yield func(blob.Object, error) bool) {
		pages := b.client.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{Prefix: ptr(b.prefix + prefix)})
		for pages.More() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				yield(blob.Object{}, failure(ctx, err))
				return
			}
			for _, item := range page.Segment.BlobItems {
				if !yield(b.object(item), nil) {
					return
				}
			}
		}
	}
}

func (b *Bucket) object(item *container.BlobItem) blob.Object {
	o := blob.Object{Key: strings.TrimPrefix(*item.Name, b.prefix)}
	if p := item.Properties; p != nil && p.ContentLength != nil && p.LastModified != nil {
		o.Bytes, o.Modified = *p.ContentLength, *p.LastModified
	}
	return o
}

// Link implements blob.Bucket. Only the key of an account signs addresses.
func (b *Bucket) Link(_ context.Context, key string, d blob.Download) (string, error) {
	if b.key == nil {
		return "", nil
	}
	values := sas.BlobSignatureValues{
		Protocol: sas.ProtocolHTTPS, ExpiryTime: time.Now().UTC().Add(d.Valid), Permissions: (&sas.BlobPermissions{Read: true}).String(),
		ContainerName: b.names.Container, BlobName: b.prefix + key,
		ContentType: d.MediaType, ContentDisposition: d.Disposition, CacheControl: "private, no-cache",
	}
	if strings.HasPrefix(b.names.Endpoint, "http://") {
		values.Protocol = sas.ProtocolHTTPSandHTTP
	}
	query, err := values.SignWithSharedKey(b.key)
	if err != nil {
		return "", fmt.Errorf("sign an address: %w", err)
	}
	return b.client.NewBlobClient(b.prefix+key).URL() + "?" + query.Encode(), nil
}

// Ping implements blob.Bucket.
func (b *Bucket) Ping(ctx context.Context) error {
	_, err := b.once.NewListBlobsFlatPager(&container.ListBlobsFlatOptions{Prefix: ptr(b.prefix), MaxResults: to.Ptr(int32(1))}).NextPage(ctx)
	return failure(ctx, err)
}

// Close implements blob.Bucket. The HTTP client is the caller's.
func (b *Bucket) Close() error { return nil }

// failure returns the error of a request as blob.Bucket states it.
func failure(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*azidentity.AuthenticationFailedError](err); ok {
		return blob.Refused(ctx, err)
	}
	e, ok := errors.AsType[*azcore.ResponseError](err)
	if !ok {
		return blob.Unavailable(ctx, err)
	}
	switch e.ErrorCode {
	case "ContainerNotFound", "ContainerBeingDeleted", "ContainerDisabled", "ResourceNotFound":
		return blob.Gone(ctx, err)
	case "InvalidBlockList", "InvalidBlobOrBlock":
		return blob.Unavailable(ctx, err) // another upload of the same blob was completed meanwhile
	}
	if e.StatusCode < http.StatusMultipleChoices { // an answer that is not XML
		return blob.Unavailable(ctx, err)
	}
	return blob.FromStatus(ctx, e.StatusCode, err)
}

func ptr(s string) *string { return &s }
