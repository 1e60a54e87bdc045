// The cairn command: the server in one process, and a client of it. This package
// is the wiring: the wire files put the server together, up.go starts it, and the
// rest are the commands, by their subjects.
package main
