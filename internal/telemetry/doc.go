// Package telemetry writes the logs and metrics of a running process: log lines
// in JSON with the ids of the objects concerned, and metrics in the Prometheus
// format. Neither contains questions, answers, document text or secrets.
package telemetry
