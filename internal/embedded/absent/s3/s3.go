// Package s3 declares what the Temporal server's archiver needs of S3. Every
// call fails.
package s3

import (
	"context"
	"errors"
	"io"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
)

var errAbsent = errors.New("this program is built without S3")

// Options are the settings of a Client.
type Options struct {
	BaseEndpoint *string
	UsePathStyle bool
}

// Client would reach the service.
type Client struct{}

// NewFromConfig returns a client whose calls fail.
func NewFromConfig(aws.Config, ...func(*Options)) *Client { return &Client{} }

// HeadBucketInput names a bucket.
type HeadBucketInput struct{ Bucket *string }

// HeadBucketOutput is empty.
type HeadBucketOutput struct{}

// HeadBucket fails always.
func (*Client) HeadBucket(context.Context, *HeadBucketInput, ...func(*Options)) (*HeadBucketOutput, error) {
	return nil, errAbsent
}

// HeadObjectInput names an object.
type HeadObjectInput struct{ Bucket, Key *string }

// HeadObjectOutput is empty.
type HeadObjectOutput struct{}

// HeadObject fails always.
func (*Client) HeadObject(context.Context, *HeadObjectInput, ...func(*Options)) (*HeadObjectOutput, error) {
	return nil, errAbsent
}

// PutObjectInput is an object to be written.
type PutObjectInput struct {
	Bucket, Key *string
	Body        io.Reader
}

// PutObjectOutput is empty.
type PutObjectOutput struct{}

// PutObject fails always.
func (*Client) PutObject(context.Context, *PutObjectInput, ...func(*Options)) (*PutObjectOutput, error) {
	return nil, errAbsent
}

// GetObjectInput names an object.
type GetObjectInput struct{ Bucket, Key *string }

// GetObjectOutput holds an object's bytes.
type GetObjectOutput struct{ Body io.ReadCloser }

// GetObject fails always.
func (*Client) GetObject(context.Context, *GetObjectInput, ...func(*Options)) (*GetObjectOutput, error) {
	return nil, errAbsent
}

// ListObjectsV2Input selects objects by the start of their names.
type ListObjectsV2Input struct {
	Bucket, Prefix, Delimiter, ContinuationToken *string
	MaxKeys                                      *int32
}

// ListObjectsV2Output is a page of a list.
type ListObjectsV2Output struct {
	CommonPrefixes        []types.CommonPrefix
	Contents              []types.Object
	IsTruncated           *bool
	NextContinuationToken *string
}

// ListObjectsV2 fails always.
func (*Client) ListObjectsV2(context.Context, *ListObjectsV2Input, ...func(*Options)) (*ListObjectsV2Output, error) {
	return nil, errAbsent
}
