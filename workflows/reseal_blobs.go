package workflows

import (
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/ingestion"
)

const (
	// ResealID is the id of the one workflow that encrypts the blobs of an instance anew.
	ResealID = "encryption/blobs"
	// SignalRotated tells it that there is a newer data key.
	SignalRotated = "rotated"
	// resealPause is longer than a process takes to learn of a newer data key: what it wrote
	// with the older one is there for the next pass.
	resealPause = 15 * time.Second
	// resealLimit bounds one pass over all blobs.
	resealLimit = 7 * 24 * time.Hour
)

// ResealBlobs encrypts the blobs anew that are not encrypted with the newest data key, in passes,
// until a pass finds none.
func ResealBlobs(ctx workflow.Context) error {
	rotated := workflow.GetSignalChannel(ctx, SignalRotated)
	var acts *ingestion.Resealing
	for {
		for rotated.ReceiveAsync(nil) { // the pass that begins now uses the newest key
		}
		options := onQueue(activityOptions(ctx, "encrypt the blobs", resealLimit, endlessRetries()), QueueIngest, 0)
		var pass ingestion.ResealResult
		if err := workflow.ExecuteActivity(options, acts.ResealBlobs).Get(ctx, &pass); err != nil {
			return err
		}
		if !pass.Again && rotated.Len() == 0 {
			return nil
		}
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			return workflow.NewContinueAsNewError(ctx, ResealBlobs)
		}
		if err := workflow.NewTimerWithOptions(ctx, resealPause, workflow.TimerOptions{Summary: "wait for what is being written"}).Get(ctx, nil); err != nil {
			return err
		}
	}
}
