// Package stream is the event log of a run: the words in which it is written,
// the log itself as a deterministic state machine that a workflow holds, and
// the hub that hands batches to readers in the same process.
//
// The wire form is Temporal's Workflow Streams protocol (signal to publish,
// update to poll, query for the offset), so Temporal's own clients can follow
// a run. docs/events.md is the reference, and draws how log, hub, relay and
// follower stand to each other, with the states of a reader.
package stream
