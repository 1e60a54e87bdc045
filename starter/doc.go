// The cairn command: the commands, grouped by subject, most of which are clients of a
// server. up.go, cluster.go and worker.go start a server process, which package
// internal/server assembles.
package main
