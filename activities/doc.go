// Package activities holds everything that Cairn does to the world from within
// a workflow, one file a capability. Every activity can run twice without harm:
// it writes its result to the blob store under a key that its input determines,
// and looks there first. It returns ids, counts and blob keys to the workflow.
//
// errors.go is the one place that decides what is worth a retry.
package activities
