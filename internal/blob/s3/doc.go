// Package s3 keeps the blobs of a store in a bucket of S3, or of a service that is
// compatible with it.
//
// It uses the SDK itself. A portable layer above it would report a missing bucket as a
// missing blob, ask whether each blob exists before it deletes it, and delete them one by
// one.
package s3
