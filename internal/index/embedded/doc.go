// Package embedded keeps an index in one SQLite file: vectors with their sketches,
// words in FTS5 tables, permission and filters in plain ones.
//
// There are two tables for the vectors of each generation, and one FTS5 table for
// each workspace: the weight of a word is computed from the workspace's own
// documents, and the time of a search does not depend on other workspaces. Package
// words splits and stems documents and questions alike, and nothing in a question
// can be an operator.
//
// A search ranks in memory, where the sketches of all vectors are: a bit for each
// dimension. The vectors whose estimated cosines are high enough are read and
// compared. The lists of the words that were searched for are read from FTS5 when
// they are first needed. Each search reads in the file whether passages were written
// or removed, by this process or another, and completes its sketches and lists.
//
// Committed writes survive a power failure, like the writes of SQL and blobs: a
// document that SQL has published is found.
package embedded
