// Package index is the port through which passages are found: by the nearness
// of their vectors, and by the words in them.
//
// An index is a cache of what SQL and the blob store know, and can be rebuilt
// from them. It is not the truth about who may see what: it holds the access
// tokens of each document and obeys them inside each query, and package
// retrieve asks SQL again before a text leaves.
//
// Package embedded keeps the index in an SQLite file of its own; package
// indextest is the contract that every index must keep.
package index
