package workflows

import (
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
)

// stepsEnd is the outcome of the steps of a version.
type stepsEnd struct {
	published bool // readers see the version
	recorded  bool // the end of its run is written
}

// steps runs every step of the current version, up to its publication. A resumed
// version has its chunks already.
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

// prepare begins the version, and blocks until the removal of older versions has
// ended. For a small document it runs the steps up to the chunks, unless beginOnly
// is true.
func (w *ingest) prepare(ctx workflow.Context, beginOnly bool) (ingestion.PrepareResult, error) {
	in := ingestion.PrepareInput{StepInput: w.step(), FirstOffset: w.first, BeginOnly: beginOnly}
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, time.Minute) {
		var result ingestion.PrepareResult
		err := localStep(ctx, "prepare", w.acts.PrepareDocument, in, &result)
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
	w.enterStage(ctx, knowledge.StageFetch)
	fetching := onQueue(activityOptions(ctx, "fetch the original", 3*time.Minute, once()), QueueFetch, 0)
	policy := fetchRetries()
	return w.retry(ctx, policy, func(t tries) error {
		in := ingestion.FetchInput{StepInput: w.step(), LastTry: t.failed+1 >= int(policy.MaximumAttempts)}
		return execute(fetching, w.acts.FetchDocument, in, nil)
	})
}

// extract runs the steps from the check to the chunks, unless prepare has run them.
func (w *ingest) extract(ctx workflow.Context, prepared ingestion.PrepareResult) error {
	w.enterStage(ctx, knowledge.StageCheck)
	w.enterStage(ctx, knowledge.StageExtract)
	result := prepared.ExtractResult
	if !prepared.Chunked {
		if err := w.setStageAttribute(ctx); err != nil {
			return err
		}
		queue, policy := QueueParse, storeRetries()
		if prepared.Speech {
			queue = QueueTranscribe // a call to a model for minutes must not hold a parser
		}
		if prepared.Semantic || prepared.Speech || prepared.Custom {
			policy = modelRetries()
		}
		parsing := onQueue(activityOptions(ctx, "extract, enrich and chunk", time.Hour, once()), queue, parsePriority(prepared.Bytes))
		err := w.retry(ctx, policy, func(t tries) error {
			return execute(parsing, w.acts.ExtractDocument, ingestion.ExtractInput{StepInput: w.step(), Now: t.now}, &result)
		})
		if err == nil && result.Pictures != (ingestion.Pictures{}) {
			err = w.readPictures(ctx, result.Pictures)
			if err == nil {
				result = ingestion.ExtractResult{}
				err = w.retry(ctx, policy, func(tries) error { return execute(parsing, w.acts.CutDocument, w.step(), &result) })
			}
		}
		if err != nil {
			return err
		}
	}
	w.counts.pages = result.Pages
	w.showSteps(result.Steps)
	w.enterStage(ctx, knowledge.StageEnrich)
	w.enterStage(ctx, knowledge.StageChunk)
	w.counts.chunks = result.Chunks
	if result.Enrich {
		return w.enrich(ctx)
	}
	return nil
}

// readPictures has a model look at the pictures of the version. A version is ingested
// without the descriptions of figures that fail.
func (w *ingest) readPictures(ctx workflow.Context, pictures ingestion.Pictures) error {
	looking := onQueue(activityOptions(ctx, "look at pictures", time.Hour, once()), QueueEmbed, 0)
	for _, kind := range pictures.Kinds() {
		in := ingestion.ReadPicturesInput{StepInput: w.step(), Kind: kind}
		for more := true; more; in.First += ingestion.PicturesStep {
			var result ingestion.ReadPicturesResult
			err := w.retry(ctx, modelRetries(), func(t tries) error {
				in.Now = t.now
				return execute(looking, w.acts.ReadPictures, in, &result)
			})
			if err != nil && (kind == ingestion.PagePictures || ctx.Err() != nil || temporal.IsCanceledError(err)) {
				return err
			}
			more = err == nil && result.More
		}
	}
	return nil
}

// enrich has a model describe the document and its chunks, before they are embedded.
func (w *ingest) enrich(ctx workflow.Context) error {
	if err := w.setStageAttribute(ctx); err != nil {
		return err
	}
	describing := onQueue(activityOptions(ctx, "describe the document", time.Hour, once()), QueueEmbed, 0)
	for first := 0; ; first += ingestion.EnrichStep {
		last := min(first+ingestion.EnrichStep, w.counts.chunks)
		in := ingestion.EnrichInput{StepInput: w.step(), First: first, Last: last, Count: w.counts.chunks}
		var result ingestion.EnrichResult
		err := w.retry(ctx, modelRetries(), func(tries) error { return execute(describing, w.acts.EnrichDocument, in, &result) })
		if err != nil || !result.More {
			return err
		}
	}
}

// parsePriority returns the priority of a document on the queue of the parsers:
// small documents pass large ones. A hundred pages of text may have as few as 200 KiB.
func parsePriority(bytes int64) int {
	switch {
	case bytes <= 64<<10:
		return 1
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

// publish publishes the version. If no older version is left to retire, the same
// step writes the end of the run.
func (w *ingest) publish(ctx workflow.Context, small bool) (stepsEnd, error) {
	w.enterStage(ctx, knowledge.StagePublish)
	in := ingestion.PublishInput{StepInput: w.step(), Count: w.counts.chunks}
	ended := record.Ending{Kind: knowledge.KindIngest, Published: true}
	if small && w.current.Version == 1 {
		in.End = w.log.itemsWith(w.first, ended)
	}
	var result ingestion.PublishResult
	var err error
	if small {
		err = localStep(ctx, "publish", w.acts.PublishDocument, in, &result)
	} else if err = w.setStageAttribute(ctx); err == nil {
		queue := QueueIngest
		if w.counts.chunks > ingestion.LongDocument {
			queue = QueueWrite
		}
		publishing := onQueue(activityOptions(ctx, "publish", 30*time.Minute, once()), queue, priorityFinishing)
		err = w.retry(ctx, storeRetries(), func(tries) error { return execute(publishing, w.acts.PublishDocument, in, &result) })
	}
	if err != nil { // the step may have published the version before it failed
		lookErr := workflow.ExecuteLocalActivity(finalOptions(ctx, "what readers see"), w.acts.IsPublished, w.step()).Get(ctx, &result.Published)
		if lookErr != nil || !result.Published {
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

// retire deletes the data of older versions after readers see the new one. If the
// local activity fails, an activity deletes them with endless retries.
func (w *ingest) retire(ctx workflow.Context, small bool) {
	const summary = "delete the older versions"
	if small && workflow.ExecuteLocalActivity(localOptions(ctx, summary), w.acts.RetireVersions, w.step()).Get(ctx, nil) == nil {
		return
	}
	w.deleteUnseen(ctx, summary, w.acts.RetireVersions, w.step())
}

// discard deletes the data of a version that was not published, except completed
// work that a retry resumes from.
func (w *ingest) discard(ctx workflow.Context, err error) {
	in := ingestion.DiscardInput{StepInput: w.step(), Canceled: temporal.IsCanceledError(err)}
	w.deleteUnseen(disconnected(ctx), "delete what the version left", w.acts.DiscardVersion, in)
}

// deleteUnseen runs an activity that deletes data which no reader sees, with endless
// retries. It ignores an error that no retry can help: the next version, or the
// removal of the document, deletes the rest.
func (w *ingest) deleteUnseen(ctx workflow.Context, summary string, step, in any) {
	options := onQueue(activityOptions(ctx, summary, 30*time.Minute, endlessRetries()), QueueIngest, priorityFinishing)
	_ = workflow.ExecuteActivity(options, step, in).Get(ctx, nil)
}

// fetchRetries is the retry policy of downloads, from an address that may be down
// for some minutes.
func fetchRetries() *temporal.RetryPolicy {
	return &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 3, MaximumInterval: time.Minute, MaximumAttempts: 5}
}
