// Package record holds what is stored of runs: the inputs of their workflows, the data of
// their events, and the results of their steps, as JSON in histories and blobs. Whoever
// starts a run, works on it or shows it reads and writes these types. A field is never
// renamed, because older histories and blobs have it. The package runs nothing.
package record
