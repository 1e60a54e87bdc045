// Package embedded keeps an index in one SQLite file: vectors in sqlite-vec's
// vec0 tables, words in FTS5 tables, permission and filters in plain ones.
//
// There is one vec0 table for each dimension, partitioned by workspace and
// project, and one FTS5 table for each workspace: the weight of a word is
// reckoned from the workspace's own documents, and the time of a search does
// not depend on what other workspaces hold. Words are cut and stemmed here
// (words.go), so that a document and a question are treated alike and so that
// nothing in a question can be an operator.
//
// What was written survives a power cut, as SQL and blobs do: a document that
// SQL calls published is found.
package embedded
