// Package git follows a branch of a Git repository over HTTP: it compares the trees of two
// commits, and reads the files that differ.
//
// It speaks version 2 of Git's protocol itself. Of the history it fetches two commits with
// their trees, and of the files those that are read, so that neither memory nor disk grows
// with the repository. It knows no other transport, and writes nothing.
package git
