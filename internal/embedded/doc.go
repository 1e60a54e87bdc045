// Package embedded runs a Temporal server and its web UI inside this process,
// over two SQLite files, so that one command on a bare machine is enough. It is
// the same server that a cluster runs; only where it stores and how many there
// are of it differ.
//
// Nothing of it listens beyond the loopback interface, since nothing of it asks
// who is calling. The UI refuses requests for foreign hosts and origins, so that
// no web page can reach it through a browser on this machine.
//
// It survives a kill at any moment: histories are committed before they are
// acknowledged, and a database is made under another name and renamed when it
// is whole.
package embedded
