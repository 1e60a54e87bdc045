// Package gcs keeps the blobs of a store in a bucket of Google Cloud Storage.
//
// It uses the client of the JSON API. The larger client above it is not linked: the
// Temporal server links it for an archiver that is not used, and a declaration stands for
// it there (internal/embedded/absent).
package gcs
