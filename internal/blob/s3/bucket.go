package s3

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/cairn-rag/cairn/internal/blob"
)

func (b *Bucket) outside(key string) *string { return aws.String(b.prefix + key) }

func (b *Bucket) inside(key *string) string {
	return strings.TrimPrefix(aws.ToString(key), b.prefix)
}

// Open implements blob.Bucket.
func (b *Bucket) Open(ctx context.Context, key string) (io.ReadCloser, int64, error) {
	out, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: b.outside(key)})
	if err != nil {
		return nil, 0, failure(ctx, err)
	}
	return out.Body, aws.ToInt64(out.ContentLength), nil
}

// OpenAt implements blob.Bucket.
func (b *Bucket) OpenAt(ctx context.Context, key string, offset int64) (io.ReadCloser, error) {
	out, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: b.outside(key), Range: aws.String(fmt.Sprintf("bytes=%d-", offset))})
	if err != nil {
		return nil, failure(ctx, err)
	}
	return out.Body, nil
}

// Exists implements blob.Bucket. It reads the first byte: the answer to HEAD does not
// tell a missing bucket from a missing object.
func (b *Bucket) Exists(ctx context.Context, key string) (bool, error) {
	out, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: b.outside(key), Range: aws.String("bytes=0-0")})
	if err == nil {
		return true, out.Body.Close()
	}
	if statusOf(err) == http.StatusRequestedRangeNotSatisfiable { // an empty object
		return true, nil
	}
	if err = failure(ctx, err); errors.Is(err, blob.ErrNotFound) {
		return false, nil
	}
	return false, err
}

// List implements blob.Bucket.
func (b *Bucket) List(ctx context.Context, prefix string) iter.Seq2[blob.Object, error] {
	return func(yield func(blob.Object, error) bool) {
		pages := s3.NewListObjectsV2Paginator(b.client, &s3.ListObjectsV2Input{Bucket: &b.name, Prefix: b.outside(prefix)})
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				yield(blob.Object{}, failure(ctx, err))
				return
			}
			for _, o := range page.Contents {
				if !yield(b.object(o), nil) {
					return
				}
			}
		}
	}
}

func (b *Bucket) object(o types.Object) blob.Object {
	return blob.Object{Key: b.inside(o.Key), Bytes: aws.ToInt64(o.Size), Modified: aws.ToTime(o.LastModified)}
}

// Link implements blob.Bucket.
func (b *Bucket) Link(ctx context.Context, key string, d blob.Download) (string, error) {
	in := &s3.GetObjectInput{
		Bucket: &b.name, Key: b.outside(key),
		ResponseContentType: &d.MediaType, ResponseContentDisposition: &d.Disposition, ResponseCacheControl: aws.String("private, no-cache"),
	}
	signed, err := s3.NewPresignClient(b.client, s3.WithPresignExpires(d.Valid)).PresignGetObject(ctx, in)
	if err != nil {
		return "", failure(ctx, err)
	}
	return signed.URL, nil
}

// Ping implements blob.Bucket.
func (b *Bucket) Ping(ctx context.Context) error {
	_, err := b.client.HeadBucket(ctx, &s3.HeadBucketInput{Bucket: &b.name}, once)
	switch {
	case err == nil:
		return nil
	case statusOf(err) == http.StatusNotFound:
		return blob.Gone(ctx, err)
	}
	return failure(ctx, err)
}

func once(o *s3.Options) { o.RetryMaxAttempts = 1 }

// Close implements blob.Bucket. The HTTP client is the caller's.
func (b *Bucket) Close() error { return nil }

// KeepsVersions reports whether the bucket keeps the bytes of deleted objects as
// noncurrent versions. It returns false if this server may not know.
func (b *Bucket) KeepsVersions(ctx context.Context) bool {
	out, err := b.client.GetBucketVersioning(ctx, &s3.GetBucketVersioningInput{Bucket: &b.name}, once)
	return err == nil && out.Status == types.BucketVersioningStatusEnabled
}
