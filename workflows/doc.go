// Package workflows holds Cairn's durable processes, one file a workflow, and
// the event log that each of them keeps (event_log.go). The code is
// deterministic: it reads no clock, no random source and no network; what it
// needs from the world comes from activities.
//
// A document passes through ingest_document.go, a question through
// answer_query.go and tool_loop.go.
package workflows
