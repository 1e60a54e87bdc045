// Package worker registers workflows and activities on their task queues and
// runs them, and sweeps for what a crash left without a workflow.
package worker
