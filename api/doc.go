// Package api is Cairn's HTTP edge: it decodes requests, authenticates them, and
// encodes the answers into the shapes that clients know. Questions start in
// package question and documents in package intake; the relay follows their runs.
//
// Every route is a huma operation, so that openapi.json describes it. huma checks
// the input of a route against its types before the handler sees it; decodeBody
// does so where a handler reads the body itself (handleRaw). edge.go and
// middleware.go hold what stands around every handler: credentials, scope, the
// body's size, Idempotency-Key, metrics, the log line. errors.go is the one place
// where error codes become statuses.
//
// The package holds no state that matters: a process can be killed at any moment
// and another one resumes its runs. Package access decides who asks, and store
// and index decide what they reach. Decided here are the scopes of routes, who
// may read the answer to a question (runReader) and who may cancel a run
// (cancelRun).
package api
