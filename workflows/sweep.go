package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/ingestion"
)

// SweepLimit bounds one sweep. The next one does what is left.
const SweepLimit = 10 * time.Minute

// SweepID returns the id of the schedule of a sweep in a cluster. The ids of its
// workflows begin with it.
func SweepID(sweep string) string { return "sweep/" + sweep }

// Sweep repairs what a crash left. In a cluster a schedule starts it, so that one of the
// workers runs it; a process with its own Temporal server sweeps without a workflow.
func Sweep(ctx workflow.Context, in ingestion.SweepInput) error {
	var acts *ingestion.Sweeping
	return execute(activityOptions(ctx, "sweep "+in.Sweep, SweepLimit, once()), acts.SweepOnce, in, nil)
}
