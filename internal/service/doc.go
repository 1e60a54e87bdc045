// Package service runs the services of a cluster as child processes on this machine, for
// the end-to-end tests and the benchmarks: PostgreSQL, Temporal, Milvus and a bucket,
// and Cairn's own roles. A process that is killed starts again on its port and data.
package service
