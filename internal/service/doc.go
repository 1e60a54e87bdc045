// Package service runs the services of a cluster as child processes on this machine, for
// the end-to-end tests and the benchmarks: PostgreSQL, Temporal, Milvus and a bucket. A
// service that is killed starts again on its port and data. The package knows nothing of
// what Cairn stores in them.
package service
