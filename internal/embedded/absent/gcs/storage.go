// Package storage declares what the Temporal server's archiver needs of Google
// Cloud Storage. No client can be made.
package storage

import (
	"context"
	"errors"
	"io"
)

var errAbsent = errors.New("this program is built without Google Cloud Storage")

// ScopeFullControl is the permission for which credentials would be asked.
const ScopeFullControl = "https://www.googleapis.com/auth/devstorage.full_control"

// Client would reach the service.
type Client struct{}

// NewClient fails always, with any options.
func NewClient(context.Context, ...any) (*Client, error) { return nil, errAbsent }

// Bucket returns a bucket that cannot be reached.
func (*Client) Bucket(string) *BucketHandle { return &BucketHandle{} }

// BucketHandle is a bucket that cannot be reached.
type BucketHandle struct{}

// BucketAttrs describes a bucket.
type BucketAttrs struct{}

// Attrs fails always.
func (*BucketHandle) Attrs(context.Context) (*BucketAttrs, error) { return nil, errAbsent }

// Object returns an object that cannot be reached.
func (*BucketHandle) Object(string) *ObjectHandle { return &ObjectHandle{} }

// Objects returns an iterator that fails.
func (*BucketHandle) Objects(context.Context, *Query) *ObjectIterator { return &ObjectIterator{} }

// Query selects objects by the start of their names.
type Query struct{ Prefix string }

// ObjectIterator would list objects.
type ObjectIterator struct{}

// Next fails always.
func (*ObjectIterator) Next() (*ObjectAttrs, error) { return nil, errAbsent }

// ObjectAttrs describes an object.
type ObjectAttrs struct{ Name string }

// ObjectHandle is an object that cannot be reached.
type ObjectHandle struct{}

// Attrs fails always.
func (*ObjectHandle) Attrs(context.Context) (*ObjectAttrs, error) { return nil, errAbsent }

// NewReader fails always.
func (*ObjectHandle) NewReader(context.Context) (*Reader, error) { return nil, errAbsent }

// NewWriter returns a writer that fails.
func (*ObjectHandle) NewWriter(context.Context) *Writer { return &Writer{} }

// Reader would read an object.
type Reader struct{ io.ReadCloser }

// Writer would write an object.
type Writer struct{}

// Write fails always.
func (*Writer) Write([]byte) (int, error) { return 0, errAbsent }

// Close fails always.
func (*Writer) Close() error { return errAbsent }

// CloseWithError fails always.
func (*Writer) CloseWithError(error) error { return errAbsent }
