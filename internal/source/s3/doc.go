// Package s3 lists and reads buckets of Amazon S3 and of services that are
// compatible with it. It writes nothing.
package s3
