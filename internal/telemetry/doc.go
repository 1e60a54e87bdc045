// Package telemetry is what an operator sees of a process while it runs: log
// lines in JSON that carry the ids of what they are about, and metrics in the
// form that Prometheus reads. Neither ever has a question, an answer, a text of
// a document or a secret in it.
package telemetry
