// Package embedded runs a Temporal server and its web UI inside this process,
// over two SQLite files, so that one command on a bare machine is enough. A
// cluster runs the same server; the embedded one has another store and a single
// host. The modules below absent stand in for cloud SDKs that the server imports
// and never calls here.
//
// The server and its UI do not authenticate callers, so they listen on loopback
// addresses only. The UI refuses requests for foreign hosts and origins, so that
// no web page can reach it through a browser on this machine.
//
// The server survives a kill at any moment: it commits histories before it
// acknowledges them. A new database is written under another name and renamed
// when it is complete.
package embedded
