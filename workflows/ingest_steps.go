package workflows

import (
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/knowledge"
)

// stepsEnd is how the steps of a version ended.
type stepsEnd struct {
	published bool // readers see the version
	recorded  bool // the end of its run is written
}

// steps takes the current version from its original to its publication. A
// resumed version has its chunks already.
func (w *ingest) steps(ctx workflow.Context, resumed bool) (stepsEnd, error) {
	stopped := slices.Contains(w.stopped, w.current.Run)
	prepared, err := w.prepare(ctx, stopped || resumed)
	if err == nil && prepared.Fetch {
		if err = w.fetch(ctx); err == nil {
			prepared, err = w.prepare(ctx, false)
		}
	}
	switch {
	case err != nil:
		return stepsEnd{}, err
	case prepared.Ended:
		return stepsEnd{recorded: true}, nil
	case prepared.Removing, stopped:
		return stepsEnd{}, temporal.NewCanceledError()
	}
	if !resumed {
		if err := w.extract(ctx, prepared); err != nil {
			return stepsEnd{}, err
		}
	}
	if err := w.embed(ctx, prepared.Small); err != nil {
		return stepsEnd{}, err
	}
	return w.publish(ctx, prepared.Small)
}

// prepare begins the version, once a removal of older ones has ended. It takes a
// small document up to its chunks.
func (w *ingest) prepare(ctx workflow.Context, beginOnly bool) (activities.PrepareResult, error) {
	in := activities.PrepareInput{StepInput: w.step(), FirstOffset: w.first, BeginOnly: beginOnly}
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, time.Minute) {
		var result activities.PrepareResult
		err := workflow.ExecuteLocalActivity(local(ctx, "prepare"), w.acts.PrepareDocument, in).Get(ctx, &result)
		if err != nil || !result.Blocked {
			return result, err
		}
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			return result, errContinue
		}
		timer := workflow.NewTimerWithOptions(ctx, pause, workflow.TimerOptions{Summary: "wait for a removal to end"})
		if err := timer.Get(ctx, nil); err != nil {
			return result, err
		}
	}
}

func (w *ingest) fetch(ctx workflow.Context) error {
	w.enter(ctx, knowledge.StageFetch)
	fetching := onQueue(regular(ctx, "fetch the original", 3*time.Minute, fetchRetries()), QueueFetch, 0)
	return execute(fetching, w.acts.FetchDocument, w.step(), nil)
}

// extract takes a version that was begun up to its chunks.
func (w *ingest) extract(ctx workflow.Context, prepared activities.PrepareResult) error {
	w.enter(ctx, knowledge.StageCheck)
	w.enter(ctx, knowledge.StageExtract)
	result := prepared.ExtractResult
	if !prepared.Chunked {
		if err := w.noteStage(ctx); err != nil {
			return err
		}
		parsing := onQueue(regular(ctx, "extract, enrich and chunk", time.Hour, storeRetries()), QueueParse, parsePriority(prepared.Bytes))
		if err := execute(parsing, w.acts.ExtractDocument, w.step(), &result); err != nil {
			return err
		}
	}
	w.counts.pages = result.Pages
	w.enter(ctx, knowledge.StageEnrich)
	w.enter(ctx, knowledge.StageChunk)
	w.counts.chunks = result.Chunks
	return nil
}

// parsePriority lets small documents pass large ones on the queue of the parsers.
func parsePriority(bytes int64) int {
	switch {
	case bytes <= 256<<10:
		return 2
	case bytes <= 2<<20:
		return 3
	case bytes <= 16<<20:
		return 4
	default:
		return 5
	}
}

// publish switches readers to the version. Where nothing is left to do after
// that, the same step writes the end of the version's run.
func (w *ingest) publish(ctx workflow.Context, small bool) (stepsEnd, error) {
	w.enter(ctx, knowledge.StagePublish)
	in := activities.PublishInput{StepInput: w.step(), Count: w.counts.chunks}
	ended := activities.Ending{Kind: knowledge.KindIngest, Published: true}
	if small && w.current.Version == 1 {
		in.End = w.log.itemsWith(w.first, ended)
	}
	var result activities.PublishResult
	var err error
	if small {
		err = workflow.ExecuteLocalActivity(local(ctx, "publish"), w.acts.PublishDocument, in).Get(ctx, &result)
	} else if err = w.noteStage(ctx); err == nil {
		publishing := onQueue(regular(ctx, "publish", 30*time.Minute, storeRetries()), QueueIngest, priorityFinishing)
		err = execute(publishing, w.acts.PublishDocument, in, &result)
	}
	if err != nil { // what readers see decides, not what became of the step
		asked := workflow.ExecuteLocalActivity(final(ctx, "what readers see"), w.acts.IsPublished, w.step()).Get(ctx, &result.Published)
		if asked != nil || !result.Published {
			return stepsEnd{}, err
		}
	}
	if result.Published && w.current.Version > 1 {
		w.retire(disconnected(ctx), small)
	}
	if result.Ended {
		w.log.end(ended)
	}
	return stepsEnd{published: result.Published, recorded: result.Ended}, nil
}

// retire deletes what older versions left, once readers see the new one: a
// cancel comes too late. Where that takes long, an activity repeats it until it
// succeeds.
func (w *ingest) retire(ctx workflow.Context, small bool) {
	const summary = "delete the older versions"
	if small && workflow.ExecuteLocalActivity(local(ctx, summary), w.acts.RetireVersions, w.step()).Get(ctx, nil) == nil {
		return
	}
	// The next version, or a removal, deletes what is refused for good.
	w.tidy(ctx, summary, w.acts.RetireVersions, w.step())
}

// discard deletes what a version that was not published left, but for what a
// retry would have to pay for again.
func (w *ingest) discard(ctx workflow.Context, err error) {
	in := activities.DiscardInput{StepInput: w.step(), Canceled: temporal.IsCanceledError(err)}
	w.tidy(disconnected(ctx), "delete what the version left", w.acts.DiscardVersion, in)
}

// tidy repeats a step that deletes what nobody sees until it succeeds. What it
// refuses for good stays until the document is removed.
func (w *ingest) tidy(ctx workflow.Context, summary string, step, in any) {
	options := onQueue(regular(ctx, summary, 30*time.Minute, endlessRetries()), QueueIngest, priorityFinishing)
	_ = workflow.ExecuteActivity(options, step, in).Get(ctx, nil)
}

// fetchRetries are for an address that may come back.
func fetchRetries() *temporal.RetryPolicy {
	return &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 3, MaximumInterval: time.Minute, MaximumAttempts: 5}
}
