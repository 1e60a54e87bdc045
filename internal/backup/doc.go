// Package backup copies the stores of an instance whose stores are files: the database,
// the index, the blobs, the histories of the embedded Temporal server, and the keys.
//
// A copy shows all stores as they were at one moment, as a loss of power would leave them,
// while the server works on (cut.go). It counts only with its manifest, which is written
// last and has the size and the hash of each file (manifest.go). A restore compares every
// file with the manifest before it writes one.
//
// The package knows neither rows nor blobs: an instance whose stores are services is moved
// by package instance.
package backup
