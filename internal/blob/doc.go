// Package blob stores bytes: originals, layouts, embedding batches, prompts,
// answers and log segments, each under a key that begins with its workspace. A
// workflow carries a Ref to such bytes, never the bytes themselves.
//
// A Store is a folder (file:///dir), memory (mem://) or a Bucket of a service, whose
// adapters are packages below this one (package connect opens them). A write is
// atomic: a reader sees all of it or none, and a broken upload leaves nothing.
//
// In a folder, blobs of up to 64 KiB are rows of the SQLite file small.db, which
// commits the writes of many callers together (group_commit.go). Larger ones are
// files. A folder in which all blobs are files needs no migration: each becomes a
// row when it is next written. A row counts more than a file of the same key. A
// write stores the new bytes first and then removes the others; a removal takes
// the file first. So a kill in between shows no bytes that were replaced or
// removed.
//
// The package is not a database: SQL decides which bytes belong to which visible
// version, and nothing here checks who may read.
package blob
