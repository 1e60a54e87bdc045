// Package activities holds everything that Cairn does to the world from within
// a workflow, one file a capability. Every activity can run twice without harm:
// it writes its result to the blob store under a key that its input determines,
// and looks there first. What it returns to the workflow are ids, counts and
// blob keys.
//
// errors.go is the one place that decides what is worth a retry.
package activities
