package dispatch

import (
	"context"

	enumspb "go.temporal.io/api/enums/v1"

	"github.com/cairn-rag/cairn/workflows"
)

// Reseal starts the workflow that encrypts the blobs anew, or tells the one that runs that there
// is a newer data key. Doing it twice changes nothing.
func (d *Dispatcher) Reseal(ctx context.Context) error {
	options := d.options(workflows.ResealID, workflows.QueueIngest, priorityBulk, "")
	options.StaticSummary = "encrypt the blobs"
	options.TypedSearchAttributes = d.attributes("", "")
	options.EnableEagerStart = false
	options.WorkflowIDConflictPolicy = enumspb.WORKFLOW_ID_CONFLICT_POLICY_UNSPECIFIED // a running one is signalled
	_, err := d.client.SignalWithStartWorkflow(ctx, workflows.ResealID, workflows.SignalRotated, nil, options, workflows.ResealBlobs)
	return wrap(err, "start the encryption of", "the blobs")
}
