package workflows

import (
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// embedsInFlight is how many embedding steps of a document run at the same time.
const embedsInFlight = 4

// embed embeds the chunks that have no vectors yet, several steps at the same
// time. It returns errContinue if the history has become long.
func (w *ingest) embed(ctx workflow.Context, small bool) error {
	w.enterStage(ctx, knowledge.StageEmbed)
	if w.counts.chunks > ingestion.BatchSize {
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
	begin, done := w.counts.embedded, map[int]bool{}
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
			err := w.embedChunks(ctx, from, to, small && from == 0 && to == w.counts.chunks)
			if done[from] = err == nil; err == nil {
				return
			}
			if failed == nil || errors.Is(failed, errContinue) {
				failed = err
			}
			if !errors.Is(err, errContinue) {
				giveUp() // no other step pays for a document that has failed
			}
		})
	}
	group.Wait(disconnected(ctx))
	if failed == nil && first < w.counts.chunks {
		failed = errContinue
	}
	if errors.Is(failed, errContinue) { // at the first step that has not ended
		for w.counts.embedded = begin; done[w.counts.embedded]; {
			w.counts.embedded += size
		}
	}
	return failed
}

// stepSize returns how many chunks one step embeds, a multiple of BatchSize. A
// document of a few batches is spread over several concurrent steps. A long
// document has large steps, so that its history stays short.
func stepSize(chunks int) int {
	batches := (chunks + ingestion.BatchSize - 1) / ingestion.BatchSize
	share := (batches + embedsInFlight - 1) / embedsInFlight
	return min(max(share, 1), ingestion.BatchesPerStep) * ingestion.BatchSize
}

// embedChunks embeds the chunks [first, last). With quick, the first try is a local
// activity.
func (w *ingest) embedChunks(ctx workflow.Context, first, last int, quick bool) error {
	in := ingestion.EmbedInput{StepInput: w.step(), First: first, Last: last, Count: w.counts.chunks}
	summary := fmt.Sprintf("embed chunks %d-%d", first, last-1)
	embedding := onQueue(activityOptions(ctx, summary, ingestion.BatchesPerStep*5*time.Minute, once()), QueueEmbed, 0)
	err := w.retry(ctx, modelRetries(), func(t tries) error {
		if in.Waited, in.Now = t.held || t.failed > 0, t.now; quick {
			quick = false
			if err := embedQuickly(ctx, in); !step.IsSlow(err) {
				return err
			}
		}
		return execute(embedding, w.acts.EmbedChunks, in, nil)
	})
	if err != nil {
		return err
	}
	w.counts.embedded += last - first
	w.setDetails(ctx)
	if w.counts.chunks > ingestion.BatchSize {
		w.addProgress(ctx)
	}
	return nil
}

// embedQuickly tries to embed the chunks of a small document in a local activity. An
// error that IsSlow reports says that the model is slow for other documents, so that an
// activity has to embed them.
func embedQuickly(ctx workflow.Context, in ingestion.EmbedInput) error {
	var acts ingestion.Activities
	quick := workflow.WithLocalActivityOptions(ctx, workflow.LocalActivityOptions{
		StartToCloseTimeout: 5 * time.Minute, ScheduleToCloseTimeout: forever, Summary: "embed", RetryPolicy: once(),
	})
	return workflow.ExecuteLocalActivity(quick, acts.EmbedChunks, in).Get(ctx, nil)
}

// modelRetries is the retry policy of steps that embed. A provider that limits requests for a
// while must not fail a document, so the workflow retries for about an hour, and up to
// retryTime if the provider asks for longer pauses. Tries that are held back do not
// count.
func modelRetries() *temporal.RetryPolicy {
	return &temporal.RetryPolicy{InitialInterval: 250 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: time.Minute, MaximumAttempts: 60}
}
