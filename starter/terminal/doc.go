// Package terminal renders what the cairn command shows: an answer while it
// streams, its sources, tables, and the progress of an ingestion. It writes to
// the writers it is given and asks the server for nothing. On a Screen it fits tables to the width and colours states.
//
// Text that came from a server or a document is cleaned of control characters
// first, and in JSON they are escaped, so that a document cannot drive the
// terminal of whoever reads it.
package terminal
