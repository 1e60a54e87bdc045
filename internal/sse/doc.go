// Package sse writes and reads server-sent events as WHATWG defines them, with
// Cairn's way of cutting large events into _delta_sse pieces.
package sse
