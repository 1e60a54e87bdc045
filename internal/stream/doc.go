// Package stream is the event log of a run: its events, the log itself as a
// deterministic state machine that a workflow holds, the hub that passes durable
// items to readers in the same process, and the relay that reads a log once for
// all its readers.
//
// The wire form is Temporal's Workflow Streams protocol (signal to publish,
// update to poll, query for the offset), so Temporal's own clients can follow
// a run. docs/events.md is the reference, with a diagram of log, hub, relay and
// follower, and the states of a reader.
package stream
