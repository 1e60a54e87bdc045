// Package api is Cairn's HTTP edge: it turns requests into reads of the store,
// into uploads, and into runs that it starts and follows, and turns what comes
// back into the shapes that clients know.
//
// Every route is a huma operation, so that openapi.json describes it. huma checks
// its input against its types before a handler sees it, and decodeBody does where
// a handler reads the body itself (handleRaw). What stands around a handler (credentials, scope, the body's size, Idempotency-Key,
// metrics, the log line) is in edge.go and middleware.go. errors.go is the one
// place where error codes become statuses.
//
// The package holds no state that matters: a process can be killed at any
// moment and another one goes on. Who asks is decided in access, and what they
// reach in store and index. Decided here are the scopes of routes, who is told
// the answer to a question (runReader) and who may cancel a run (cancelRun).
package api
