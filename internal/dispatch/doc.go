// Package dispatch starts, signals, queries and cancels Cairn's workflows. It
// is the one place that holds a Temporal client on behalf of the API, the
// sweep and the activities; each of them sees it through an interface of its
// own.
package dispatch
