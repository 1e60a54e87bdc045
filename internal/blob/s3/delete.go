package s3

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/cairn-rag/cairn/internal/blob"
)

// Delete implements blob.Bucket, in one request.
func (b *Bucket) Delete(ctx context.Context, keys []string) error {
	if len(keys) == 1 {
		_, err := b.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &b.name, Key: b.outside(keys[0])})
		return failure(ctx, err)
	}
	objects := make([]types.ObjectIdentifier, len(keys))
	for i, key := range keys {
		objects[i].Key = b.outside(key)
	}
	for try := 1; ; try++ {
		out, err := b.client.DeleteObjects(ctx, &s3.DeleteObjectsInput{
			Bucket: &b.name, Delete: &types.Delete{Objects: objects, Quiet: aws.Bool(true)},
		}, withMD5)
		if err != nil {
			return failure(ctx, err)
		}
		left := slices.DeleteFunc(out.Errors, isMissing)
		if len(left) == 0 {
			return nil
		}
		if objects = failed(left); try == attempts || ctx.Err() != nil {
			return partial(ctx, left[0], len(left), len(keys))
		}
		if err := pause(ctx, try); err != nil {
			return err
		}
	}
}

// isMissing reports whether an object was not deleted because there is none. Some services
// have an error for that.
func isMissing(e types.Error) bool { return aws.ToString(e.Code) == "NoSuchKey" }

// failed returns the objects of the errors.
func failed(errs []types.Error) []types.ObjectIdentifier {
	objects := make([]types.ObjectIdentifier, len(errs))
	for i, e := range errs {
		objects[i].Key = e.Key
	}
	return objects
}

// partial returns the error for a removal that left objects.
func partial(ctx context.Context, first types.Error, left, of int) error {
	err := fmt.Errorf("%d of %d objects were not deleted, the first with %s: %s", left, of, aws.ToString(first.Code), aws.ToString(first.Message))
	if aws.ToString(first.Code) == "AccessDenied" {
		return blob.Refused(ctx, err)
	}
	return blob.Unavailable(ctx, err)
}

// pause waits between two tries of a request that succeeded in part.
func pause(ctx context.Context, try int) error {
	timer := time.NewTimer(time.Duration(try) * 200 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Abandon implements blob.Abandoner. It removes the parts of uploads that were not
// completed.
func (b *Bucket) Abandon(ctx context.Context, prefix string, keep func(key string, begun time.Time) bool) error {
	pages := s3.NewListMultipartUploadsPaginator(b.client, &s3.ListMultipartUploadsInput{Bucket: &b.name, Prefix: b.outside(prefix)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if statusOf(err) == http.StatusNotImplemented || codeOf(err) == noSuchUpload {
			return nil // a service without such uploads
		}
		if err != nil {
			return failure(ctx, err)
		}
		for _, u := range page.Uploads {
			// Not every service compares the prefix.
			if key := b.inside(u.Key); !strings.HasPrefix(aws.ToString(u.Key), b.prefix+prefix) || keep(key, aws.ToTime(u.Initiated)) {
				continue
			}
			if err := b.abort(ctx, u.Key, u.UploadId); err != nil {
				return err
			}
		}
	}
	return nil
}
