// Package worker registers workflows and activities on their task queues and runs
// them. It also repairs what a crash left: accepted work without a workflow (Sweep),
// activities of a dead process (Orphans) and bytes without a version (Uploads).
package worker
