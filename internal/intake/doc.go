// Package intake takes documents in. Intake.Take goes from a checked request,
// through the document's bytes in the blob store and its version in SQL, to a
// started ingestion; Batch does so for several files of one request, and Retry
// and Reingest start a document's ingestion again.
//
// It knows nothing of HTTP: every door that brings documents calls it with the
// principal that brings them. Errors name fields as the body of POST /document
// has them ("body.externalId").
//
// The bytes are stored before the version that names them, and the version is on
// record before its workflow starts. So a crash leaves either bytes that nothing
// names, which the next start of the server deletes, or a version that is
// started later.
package intake
