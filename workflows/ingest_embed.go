package workflows

import (
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// embedsInFlight is how many embedding steps of a document run at the same time.
const embedsInFlight = 4

// embed embeds the chunks that have no vectors yet, several steps at the same
// time. It returns errContinue if the history has become long.
func (w *ingest) embed(ctx workflow.Context, small bool) error {
	w.enterStage(ctx, knowledge.StageEmbed)
	if small && w.counts.chunks <= activities.BatchSize {
		if done, err := w.embedQuickly(ctx); done || err != nil {
			return err
		}
	}
	if w.counts.chunks > activities.BatchSize {
		if err := w.setStageAttribute(ctx); err != nil {
			return err
		}
	}
	// The steps start in the order of the chunks. When all started steps have
	// ended, the chunks before first have vectors.
	size := stepSize(w.counts.chunks)
	ctx, giveUp := workflow.WithCancel(ctx)
	defer giveUp()
	slots := workflow.NewSemaphore(ctx, embedsInFlight)
	group := workflow.NewWaitGroup(ctx)
	var failed error
	begin := w.counts.embedded
	first := begin
	for ; first < w.counts.chunks; first += size {
		if err := slots.Acquire(ctx, 1); err != nil && failed == nil {
			failed = err
		}
		if failed != nil || workflow.GetInfo(ctx).GetContinueAsNewSuggested() && first > begin {
			break
		}
		from, to := first, min(first+size, w.counts.chunks)
		group.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer group.Done()
			defer slots.Release(1)
			if err := w.embedChunks(ctx, from, to); err != nil && failed == nil {
				failed = err
				giveUp() // no other step pays for a document that has failed
			}
		})
	}
	group.Wait(disconnected(ctx))
	if failed == nil && first < w.counts.chunks {
		return errContinue
	}
	return failed
}

// stepSize returns how many chunks one step embeds, a multiple of BatchSize. A
// document of a few batches is spread over several concurrent steps. A long
// document has large steps, so that its history stays short.
func stepSize(chunks int) int {
	batches := (chunks + activities.BatchSize - 1) / activities.BatchSize
	share := (batches + embedsInFlight - 1) / embedsInFlight
	return min(max(share, 1), activities.BatchesPerStep) * activities.BatchSize
}

func (w *ingest) embedChunks(ctx workflow.Context, first, last int) error {
	in := activities.EmbedInput{StepInput: w.step(), First: first, Last: last, Count: w.counts.chunks}
	summary := fmt.Sprintf("embed chunks %d-%d", first, last-1)
	options := onQueue(activityOptions(ctx, summary, activities.BatchesPerStep*5*time.Minute, modelRetries()), QueueEmbed, 0)
	err := execute(workflow.WithScheduleToCloseTimeout(options, embedTime), w.acts.EmbedChunks, in, nil)
	if err != nil {
		return err
	}
	w.counts.embedded += last - first
	w.setDetails(ctx)
	if w.counts.chunks > activities.BatchSize {
		w.addProgress(float64(w.counts.embedded) / float64(w.counts.chunks))
	}
	return nil
}

// embedQuickly embeds the chunks of a small document in one attempt of a local
// activity. done is false if an activity has to embed them instead: the model is
// slow for other documents, or it failed and may answer later.
func (w *ingest) embedQuickly(ctx workflow.Context) (done bool, err error) {
	in := activities.EmbedInput{StepInput: w.step(), Last: w.counts.chunks, Count: w.counts.chunks}
	once := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: 5 * time.Minute, ScheduleToCloseTimeout: forever, Summary: "embed",
		RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
	})
	err = workflow.ExecuteLocalActivity(once, w.acts.EmbedChunks, in).Get(ctx, nil)
	if err == nil {
		w.counts.embedded = w.counts.chunks
		return true, nil
	}
	application, ok := errors.AsType[*temporal.ApplicationError](err)
	switch {
	case ctx.Err() != nil, ok && application.NonRetryable() && !activities.IsSlow(err):
		return false, err
	case ok && application.NextRetryDelay() > 0: // the provider asked for it
		timer := workflow.NewTimerWithOptions(ctx, application.NextRetryDelay(), workflow.TimerOptions{Summary: "wait as the provider asked"})
		return false, timer.Get(ctx, nil)
	}
	return false, nil
}

// embedTime bounds an embedding step with its time in the queue and its retries. A
// provider may ask for a pause of a day before each retry.
const embedTime = 72 * time.Hour

// modelRetries is the retry policy of embedding. A provider that limits requests
// for a while must not fail a document, so Temporal retries for about an hour. It
// retries for longer, up to embedTime, if the provider asks for longer pauses.
func modelRetries() *temporal.RetryPolicy {
	return &temporal.RetryPolicy{InitialInterval: 250 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: time.Minute, MaximumAttempts: 60}
}
