// The cairn command: the server in one process, and a client for it. The wire
// files assemble the server and up.go starts it. The other files are the
// commands, grouped by subject.
package main
