// Package types declares what the Temporal server's archiver reads in the
// answers of S3.
package types

// CommonPrefix is a folder in a list.
type CommonPrefix struct{ Prefix *string }

// Object is an object in a list.
type Object struct{ Key *string }

// NoSuchBucket is an error that is never returned here.
type NoSuchBucket struct{}

// Error implements error.
func (*NoSuchBucket) Error() string { return "no such bucket" }

// NoSuchKey is an error that is never returned here.
type NoSuchKey struct{}

// Error implements error.
func (*NoSuchKey) Error() string { return "no such key" }
