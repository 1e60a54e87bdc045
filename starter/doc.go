// The cairn command: the server and its roles, and a client of it. This package
// is the wiring; each file but main.go and the wire files holds one command.
package main
