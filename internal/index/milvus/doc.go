// Package milvus keeps an index in Milvus 2.5 or newer: vectors in a dense index,
// words in a sparse one that Milvus weighs by BM25, permission and filters as
// scalar fields of each entry.
//
// There is one collection for each generation of vectors, and one for entries
// without a vector. All workspaces share them: the workspace is the partition
// key. So the weight of a word comes from all workspaces' documents. A chunk with
// vectors of two generations has an entry in two collections.
//
// Package words cuts and stems the words before they are sent, so that this
// index sees the same words as package embedded. A filter never contains a
// client's text in a form that Milvus could interpret (encode.go).
//
// Searches read with strong consistency: they find each write that has
// returned. An Upsert of many entries may be seen in parts, and the bytes of a
// removed entry stay in Milvus's storage until it has compacted its segments.
package milvus
