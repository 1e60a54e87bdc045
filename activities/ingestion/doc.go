// Package ingestion holds the activities on documents: ingests, removals, reindexes,
// imports and sweeps, one file a capability. Every activity can run twice without harm:
// it writes its result to the blob store under a key that its input determines, and
// looks there first. It returns ids, counts and blob keys to the workflow.
package ingestion
