// Package api is Cairn's HTTP edge: it turns requests into reads of the store,
// into uploads, and into runs that it starts and follows, and turns what comes
// back into the shapes that clients know.
//
// Every route is a huma operation, so that openapi.json describes it and its
// input is checked against its types before a handler sees it. What stands
// around a handler (credentials, scope, the body's size, Idempotency-Key,
// metrics, the log line) is in edge.go and middleware.go. errors.go is the one
// place where error codes become statuses.
//
// The package holds no state that matters: a process can be killed at any
// moment and another one goes on. It makes no permission decisions of its own
// beyond the scopes of routes: those are in access (who asks) and in store and
// index (what they reach).
package api
