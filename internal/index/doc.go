// Package index is the port through which passages are found, by the nearness
// of their vectors and by their words.
//
// An index is a cache: it can be rebuilt from SQL and the blob store. It stores
// the access tokens of each document and applies them inside each query, but
// SQL decides about permission: package retrieve checks each hit in SQL before
// its text leaves.
//
// Package embedded keeps the index in an SQLite file of its own, package milvus
// in a Milvus server. Package indextest is the contract for every index.
package index
