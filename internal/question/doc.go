// Package question starts the runs that end in an answer. Starter.Start goes
// from a checked request, through the run's snapshot in the blob store and its
// row in SQL, to a started workflow.
//
// It knows nothing of HTTP: every door that takes questions calls it with the
// principal that asks. Following the run and rendering its events is the door's.
package question
