// Command bench measures the built binary from outside and prints Markdown
// tables for docs/benchmarks.md: the speed of documents and questions, what they
// cost, and what survives a kill.
//
//	go run ./bench [-binary bin/cairn] [MEASURE]...
//	go run ./bench -base COMMIT [-rounds 5] [-threshold 5] [MEASURE]...
//
// The second form compares the binary with the version of another commit and
// exits with status 1 if a measure is worse with confidence. The bench drives
// both versions with the same code, over HTTP and Temporal's API.
//
// The model is a stand-in server in the bench's own process, which answers at
// once and counts; its processor time is not counted as the server's. Each
// measure starts servers of its own on temporary folders and free ports.
// The measures that need documents read ../shared/data.
package main
