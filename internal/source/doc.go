// Package source holds the vocabulary of bulk imports: a Source lists objects
// page by page and opens each for reading. Buckets, archives, lists of addresses
// and crawled sites are adapters below it.
//
// A Source knows nothing of documents, projects or workflows. It neither parses
// an object nor decides whether the object is imported.
package source
