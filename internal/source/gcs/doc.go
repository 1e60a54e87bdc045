// Package gcs lists and reads buckets of Google Cloud Storage, by its JSON
// interface. It writes nothing.
package gcs
