// Package connect opens the source that a request of an import describes. It is
// the one place that knows all adapters.
package connect
