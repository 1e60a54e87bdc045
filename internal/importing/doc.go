// Package importing starts bulk imports: Starter.Start goes from a checked request,
// through the import in SQL, to a started run. It also pauses, resumes and cancels
// imports, and retries what failed.
//
// It knows nothing of HTTP. Errors name fields as the body of POST /imports has them
// ("body.source.uri").
//
// The import is on record before its workflow starts, so a crash leaves an import
// that is started later.
package importing
