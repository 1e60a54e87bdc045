// Command bench measures the built binary from outside and prints what
// docs/benchmarks.md reports, as Markdown: how fast documents and questions
// are, what that costs, and what survives a kill.
//
//	go run ./bench [-binary bin/cairn] [crash|ingest|question|retrieve|cranfield|pdf]...
//
// The model is a stand-in server in the bench's own process, which answers at
// once and counts; its processor time is not the server's. The data of
// ../shared/data is used where a measure needs it.
package main
