// Package api is Cairn's HTTP API: each file holds the routes of one resource. A
// handler decodes its request and encodes its answer into the shapes that clients
// know. Questions start in package question and documents in package intake; the
// relay follows their runs.
//
// A new route goes into the file of its resource, or into a file of its own with a
// register method that Server.register calls. It is added by edge.Handle, so that
// openapi.json describes it and huma checks its input before the handler sees it,
// or by edge.HandleRaw if huma must not decode its body. Package edge holds what
// stands around every handler: credentials, scope, the body's size,
// Idempotency-Key, errors, metrics, the log line.
//
// The package holds no state that matters: a process can be killed at any moment
// and another one resumes its runs. Package access decides who asks, and store
// and index decide what they reach. Decided here are the scopes of routes, who
// may read the answer to a question (runReader) and who may cancel a run
// (cancelRun).
package api
