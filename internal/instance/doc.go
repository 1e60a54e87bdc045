// Package instance moves a whole instance from one set of stores to another: from SQLite
// and a folder to PostgreSQL and a bucket, and back.
//
// An export is a stream of frames, each with its checksum (frame.go): a header, the blobs,
// the rows of every table, and an ending that says how many there are and what they hash
// to. The blobs come first, so that an export that was interrupted resumes behind the last
// blob that is whole, and rows and blobs are of one attempt (export.go). An import writes
// blobs that are not there yet, and the rows in one transaction, which it commits only if
// they hash to what was exported (import.go).
//
// The vectors are among the blobs, from which cairn rebuild-index fills an index without
// the model. Histories of Temporal are not moved: the sweep of the new server starts
// pending documents again.
package instance
