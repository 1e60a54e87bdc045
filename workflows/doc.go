// Package workflows holds Cairn's durable processes, one file for each workflow,
// and the event log that each workflow keeps (event_log.go). The code is
// deterministic: it reads no clock, no random source and no network. Activities
// do everything else.
//
// A document passes through ingest_document.go, a question through
// answer_query.go and tool_loop.go.
package workflows
