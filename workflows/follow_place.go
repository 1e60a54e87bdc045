package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/ingestion"
)

// FollowID returns the id of the schedule of a sync. The ids of its workflows begin with
// it.
func FollowID(workspace, sync string) string { return "sync/" + workspace + "/" + sync }

// FollowLimit bounds the start of a run.
const FollowLimit = 10 * time.Minute

// FollowPlace starts a run of a sync, which is an import of its own. A schedule starts it.
// While a run has not ended, it starts no other one.
func FollowPlace(ctx workflow.Context, in ingestion.StartSyncInput) error {
	var acts *ingestion.Importing
	options := onQueue(activityOptions(ctx, "start a run of the sync", FollowLimit, storeRetries()), QueueBulk, 0)
	return execute(options, acts.StartSync, in, nil)
}
