package s3

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"github.com/cairn-rag/cairn/internal/blob"
)

const (
	// partBytes is the size of the parts of a large object, and the memory that each
	// upload of one takes. S3 takes up to 10,000 parts.
	partBytes = 8 << 20
	// abortPatience bounds the removal of the parts of a broken upload.
	abortPatience = 10 * time.Second
	contentType   = "application/octet-stream"
)

// Put implements blob.Bucket. An object above partBytes is sent in parts, one after
// another.
func (b *Bucket) Put(ctx context.Context, key string, r io.Reader) error {
	return b.put(ctx, key, r, nil)
}

// Replace implements blob.Replacer.
func (b *Bucket) Replace(ctx context.Context, key string, change func(io.Reader) (io.Reader, error)) (bool, error) {
	out, err := b.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &b.name, Key: b.outside(key)})
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
	err = b.put(ctx, key, changed, out.ETag)
	if status := statusOf(err); errors.Is(err, errChanged) || status == http.StatusPreconditionFailed || status == http.StatusConflict || errors.Is(err, blob.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// put stores the bytes of r, if match is nil or the etag of what is there.
func (b *Bucket) put(ctx context.Context, key string, r io.Reader, match *string) error {
	first, err := io.ReadAll(io.LimitReader(r, partBytes))
	if err != nil {
		return fmt.Errorf("read the bytes to store: %w", err)
	}
	if len(first) == partBytes {
		return b.putParts(ctx, b.outside(key), first, r, match)
	}
	_, err = b.client.PutObject(ctx, &s3.PutObjectInput{
		Bucket: &b.name, Key: b.outside(key), Body: bytes.NewReader(first), ContentType: aws.String(contentType), IfMatch: match,
	}, withMD5)
	return failure(ctx, err)
}

// putParts stores first and the rest of r. After an error it removes the parts that were
// sent; those that a kill leaves are removed by Abandon.
func (b *Bucket) putParts(ctx context.Context, key *string, first []byte, r io.Reader, match *string) error {
	created, err := b.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: &b.name, Key: key, ContentType: aws.String(contentType)})
	if err != nil {
		return failure(ctx, err)
	}
	parts, err := b.sendParts(ctx, created, first, r)
	if err == nil {
		err = b.unchanged(ctx, key, match)
	}
	if err == nil {
		_, err = b.client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{
			Bucket: &b.name, Key: key, UploadId: created.UploadId, MultipartUpload: &types.CompletedMultipartUpload{Parts: parts}, IfMatch: match,
		})
		err = failure(ctx, err)
	}
	if err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), abortPatience)
		defer cancel()
		_ = b.abort(ctx, key, created.UploadId) // Abandon removes the parts later
	}
	return err
}

// errChanged means that an object has another etag than it had.
var errChanged = errors.New("the object was changed meanwhile")

// unchanged returns errChanged if match is the etag of an object that has another one now. Some
// services compare it when an object is sent in one piece, and not when its parts are put together.
func (b *Bucket) unchanged(ctx context.Context, key, match *string) error {
	if match == nil {
		return nil
	}
	out, err := b.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &b.name, Key: key})
	if err != nil {
		return failure(ctx, err)
	}
	if aws.ToString(out.ETag) != aws.ToString(match) {
		return errChanged
	}
	return nil
}

func (b *Bucket) sendParts(ctx context.Context, upload *s3.CreateMultipartUploadOutput, part []byte, r io.Reader) ([]types.CompletedPart, error) {
	var parts []types.CompletedPart
	for number := int32(1); len(part) > 0; number++ {
		sent, err := b.client.UploadPart(ctx, &s3.UploadPartInput{
			Bucket: &b.name, Key: upload.Key, UploadId: upload.UploadId, PartNumber: &number, Body: bytes.NewReader(part),
		})
		if err != nil {
			return nil, failure(ctx, err)
		}
		parts = append(parts, types.CompletedPart{
			PartNumber: aws.Int32(number), ETag: sent.ETag, ChecksumCRC32: sent.ChecksumCRC32, ChecksumCRC32C: sent.ChecksumCRC32C,
			ChecksumSHA1: sent.ChecksumSHA1, ChecksumSHA256: sent.ChecksumSHA256, ChecksumCRC64NVME: sent.ChecksumCRC64NVME,
		})
		n, err := io.ReadFull(r, part[:partBytes])
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, fmt.Errorf("read the bytes to store: %w", err)
		}
		part = part[:n]
	}
	return parts, nil
}

func (b *Bucket) abort(ctx context.Context, key, upload *string) error {
	_, err := b.client.AbortMultipartUpload(ctx, &s3.AbortMultipartUploadInput{Bucket: &b.name, Key: key, UploadId: upload})
	if codeOf(err) == noSuchUpload {
		return nil
	}
	return failure(ctx, err)
}
