package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/ingestion"
)

// EndGrantsID returns the id of the workflow that ends the grants of a workspace.
func EndGrantsID(workspace string) string { return "grants/" + workspace }

// endAgain is the least time between two looks at grants: the clock of a worker may be behind
// that of the Temporal server.
const endAgain = 100 * time.Millisecond

// EndGrants ends the grants of a workspace that end before a time, each when its time is over. The sweep
// starts it for grants that end before its next turn, so no timer is longer than that, and none outlives
// the version of the worker that has set it.
func EndGrants(ctx workflow.Context, in ingestion.EndGrantsInput) error {
	var acts *ingestion.EndingGrants
	for {
		var left ingestion.EndGrantsResult
		options := onQueue(activityOptions(ctx, "end grants", time.Minute, storeRetries()), QueueIngest, 0)
		if err := execute(options, acts.EndGrants, in, &left); err != nil {
			return err
		}
		if left.Next.IsZero() || left.Next.After(in.Before) {
			return nil
		}
		pause := max(left.Next.Sub(workflow.Now(ctx)), endAgain)
		if err := workflow.NewTimerWithOptions(ctx, pause, workflow.TimerOptions{Summary: "wait for the end of a grant"}).Get(ctx, nil); err != nil {
			return err
		}
	}
}
