// Package a2a has the messages of the Agent2Agent protocol in its JSON-RPC binding, of the versions
// 1.0 and 0.3: the card of an agent, the calls of clients, and the tasks by which a run of a
// question is shown.
//
// It is a function of what clients send and of the events of a run (docs/events.md). It knows
// neither who calls nor how a run is started.
package a2a
