// Package api is Cairn's HTTP API: each file holds the routes of one resource. A
// handler decodes its request and encodes its answer into the shapes that clients
// know. Questions start in package question and documents in package intake; the
// relay follows their runs.
//
// Each resource has a type, such as documentRoutes, that holds what its handlers use
// and mounts its routes; parts.go makes them all. A new route goes into the file of its
// resource, and a new resource into the list of parts.routes. A route is added by
// edge.Handle, so that openapi.json describes it and huma checks its input before the
// handler sees it, or by edge.HandleRaw if huma must not decode its body. Package edge
// holds what stands around every handler: credentials, permission, the body's size,
// Idempotency-Key, errors, metrics, the log line.
//
// The package holds no state that matters: a process can be killed at any moment
// and another one resumes its runs. Package access decides who asks, and store
// and index decide what they reach; it also has the table of the permissions of
// routes. Decided here is who may read the answer to a question (runReaders) and who may cancel a run
// (runRoutes).
package api
