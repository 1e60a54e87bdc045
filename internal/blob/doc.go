// Package blob keeps bytes: originals, layouts, embedding batches, prompts,
// answers and log segments, each under a key that begins with its workspace.
// What a workflow carries is a Ref to such bytes, never the bytes themselves.
//
// A Store is a folder (file:///dir) or memory (mem://), both reached through
// gocloud.dev/blob, so that buckets of the clouds are one more URL scheme. A
// write is atomic: a reader sees all of it or none, and an upload that breaks
// off leaves nothing behind.
//
// It is not a database: which bytes belong to which visible version is SQL's
// business, and nothing here checks who may read.
package blob
