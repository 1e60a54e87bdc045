package workflows

import (
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/stream"
)

// The signals of IngestDocument.
const (
	SignalIngest = "ingest" // IngestTask: a newer version, or a retry
	SignalStop   = "stop"   // IngestStop: give up versions
)

// IngestTask is one version to ingest, and the run that tells of it.
type IngestTask struct {
	Version int    `json:"version"`
	Run     string `json:"run"`
}

// IngestStop gives up every version up to Upto (removal), or the one run Run.
type IngestStop struct {
	Upto int    `json:"upto,omitempty"`
	Run  string `json:"run,omitempty"`
}

func (s IngestStop) covers(t IngestTask) bool { return t.Version <= s.Upto || t.Run == s.Run }

// IngestInput starts the ingestion of a document.
type IngestInput struct {
	Workspace string       `json:"workspace"`
	Project   string       `json:"project"`
	Document  string       `json:"document"`
	Tasks     []IngestTask `json:"tasks"`
	Stopped   []string     `json:"stopped,omitempty"` // runs given up before their turn, carried over a continue-as-new
	Log       stream.Log   `json:"log,omitzero"`      // carried too
}

// embedsInFlight is how many embedding batches of a document are asked for at
// the same time.
const embedsInFlight = 4

// IngestDocument ingests the versions of one document, one after the other, and
// takes up those that are signalled while it runs.
func IngestDocument(ctx workflow.Context, in IngestInput) error {
	w, err := newIngest(ctx, in)
	if err != nil {
		return err
	}
	return w.run(ctx)
}

// ingest is the state of IngestDocument.
type ingest struct {
	in      IngestInput
	log     *eventLog
	queue   []IngestTask
	stopped []string // runs that were given up before their turn
	current IngestTask
	cancel  workflow.CancelFunc // of the current version; nil = none
	stage   knowledge.Stage
	counts  struct{ pages, chunks, embedded int }
	acts    *activities.Ingestion // for the names of its methods only
}

func newIngest(ctx workflow.Context, in IngestInput) (*ingest, error) {
	log, err := newEventLog(ctx, in.Log)
	if err != nil {
		return nil, err
	}
	w := &ingest{in: in, log: log, queue: in.Tasks, stopped: in.Stopped}
	onSignal(ctx, SignalIngest, w.drain)
	onSignal(ctx, SignalStop, w.drain)
	return w, nil
}

func (w *ingest) run(ctx workflow.Context) error {
	for {
		w.drain(ctx)
		if len(w.queue) == 0 {
			break
		}
		w.current, w.queue = w.queue[0], w.queue[1:]
		if err := w.version(ctx); err != nil {
			return err
		}
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() && len(w.queue) > 0 {
			w.drain(ctx)
			in := w.in
			in.Tasks, in.Stopped, in.Log = w.queue, w.stopped, w.log.carry(ctx)
			return workflow.NewContinueAsNewError(ctx, IngestDocument, in)
		}
	}
	w.log.close(ctx)
	return nil
}

// version ingests one version and writes how it ended, whatever happens.
func (w *ingest) version(ctx workflow.Context) error {
	first := w.log.End()
	versionCtx, cancel := workflow.WithCancel(ctx)
	w.cancel, w.counts.chunks, w.counts.embedded, w.counts.pages = cancel, 0, 0, 0
	defer cancel()
	begin, err := w.begin(versionCtx, first)
	if err == nil && begin.Ended {
		w.cancel = nil
		return nil
	}
	published := false
	switch {
	case err != nil:
	case begin.Removing, slices.Contains(w.stopped, w.current.Run):
		err = temporal.NewCanceledError()
	default:
		published, err = w.steps(versionCtx, begin.Fetch)
	}
	if err == nil && !published {
		err = versionCtx.Err()
	}
	w.cancel = nil
	return w.log.finish(ctx, documentEnd{
		StepInput: w.step(), first: first, stage: w.stage, published: published, err: canceled(versionCtx, err), late: w.late(),
	}, w.acts.FinishVersion)
}

// steps takes the version from its original to its publication.
func (w *ingest) steps(ctx workflow.Context, fetch bool) (published bool, err error) {
	if fetch {
		w.enter(ctx, knowledge.StageFetch)
		err = execute(regular(ctx, "fetch the original", 3*time.Minute, fetchRetries()), w.acts.FetchDocument, w.step(), nil)
		if err != nil {
			return false, err
		}
	}
	var check activities.CheckResult
	if err := w.local(ctx, knowledge.StageCheck, w.acts.CheckDocument, &check); err != nil {
		return false, err
	}
	var extracted activities.ExtractResult
	if err := w.sized(ctx, check.Small, knowledge.StageExtract, w.acts.ExtractDocument, &extracted); err != nil {
		return false, err
	}
	w.counts.pages = extracted.Pages
	if err := w.sized(ctx, check.Small, knowledge.StageEnrich, w.acts.EnrichDocument, nil); err != nil {
		return false, err
	}
	var chunked activities.ChunkResult
	if err := w.sized(ctx, check.Small, knowledge.StageChunk, w.acts.ChunkDocument, &chunked); err != nil {
		return false, err
	}
	w.counts.chunks = chunked.Count
	embeddings, err := w.embed(ctx, chunked.Count)
	if err != nil {
		return false, err
	}
	return w.publish(ctx, check.Small, embeddings)
}

// begin takes the version up, after a removal of older ones has ended.
func (w *ingest) begin(ctx workflow.Context, first int64) (activities.BeginResult, error) {
	w.stage = knowledge.StageFetch
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, 10*time.Second) {
		var result activities.BeginResult
		in := activities.BeginInput{StepInput: w.step(), FirstOffset: first}
		err := workflow.ExecuteLocalActivity(local(ctx, "begin"), w.acts.BeginVersion, in).Get(ctx, &result)
		if err != nil || !result.Blocked {
			return result, err
		}
		timer := workflow.NewTimerWithOptions(ctx, pause, workflow.TimerOptions{Summary: "wait for a removal to end"})
		if err := timer.Get(ctx, nil); err != nil {
			return result, err
		}
	}
}

// embed asks for the chunks' vectors in batches, a few at the same time, and
// gives the keys of the stored batches in order.
func (w *ingest) embed(ctx workflow.Context, count int) ([]string, error) {
	w.enter(ctx, knowledge.StageEmbed)
	if count > activities.BatchSize {
		if err := w.noteStage(ctx); err != nil {
			return nil, err
		}
	}
	batches := (count + activities.BatchSize - 1) / activities.BatchSize
	keys := make([]string, batches)
	slots := workflow.NewSemaphore(ctx, embedsInFlight)
	group := workflow.NewWaitGroup(ctx)
	var failed error
	for i := range batches {
		if err := slots.Acquire(ctx, 1); err != nil {
			failed = err
		}
		if failed != nil {
			break
		}
		group.Add(1)
		workflow.Go(ctx, func(ctx workflow.Context) {
			defer group.Done()
			defer slots.Release(1)
			var result activities.EmbedResult
			if err := w.embedBatch(ctx, i, count, &result); err != nil {
				failed = err
				return
			}
			keys[i] = result.Key
		})
	}
	group.Wait(disconnected(ctx))
	return keys, failed
}

func (w *ingest) embedBatch(ctx workflow.Context, i, count int, result *activities.EmbedResult) error {
	in := activities.EmbedInput{
		StepInput: w.step(), First: i * activities.BatchSize, Last: min((i+1)*activities.BatchSize, count), Count: count,
	}
	summary := fmt.Sprintf("embed chunks %d-%d", in.First, in.Last-1)
	tries := workflow.WithScheduleToCloseTimeout(regular(ctx, summary, 5*time.Minute, modelRetries()), embedTime)
	err := execute(tries, w.acts.EmbedChunks, in, result)
	if err != nil {
		return err
	}
	w.counts.embedded += in.Last - in.First
	w.details(ctx)
	if count > activities.BatchSize {
		w.event(float64(w.counts.embedded) / float64(count))
	}
	return nil
}

func (w *ingest) publish(ctx workflow.Context, small bool, embeddings []string) (bool, error) {
	w.enter(ctx, knowledge.StagePublish)
	in := activities.PublishInput{StepInput: w.step(), Embeddings: embeddings}
	var result activities.PublishResult
	var err error
	if small {
		err = workflow.ExecuteLocalActivity(local(ctx, "publish"), w.acts.PublishDocument, in).Get(ctx, &result)
	} else if err = w.noteStage(ctx); err == nil {
		err = execute(regular(ctx, "publish", 10*time.Minute, storeRetries()), w.acts.PublishDocument, in, &result)
	}
	if err != nil { // what readers see decides, not what became of the step
		asked := workflow.ExecuteLocalActivity(final(ctx, "what readers see"), w.acts.IsPublished, w.step()).Get(ctx, &result.Published)
		if asked != nil || !result.Published {
			return false, err
		}
	}
	if result.Published && w.current.Version > 1 {
		w.retire(disconnected(ctx), small)
	}
	return result.Published, nil
}

// retire takes away what older versions left, once readers see the new one: a
// cancel comes too late. Where that is not quickly done, an activity goes on
// until it is.
func (w *ingest) retire(ctx workflow.Context, small bool) {
	const summary = "take the older versions away"
	if small && workflow.ExecuteLocalActivity(local(ctx, summary), w.acts.RetireVersions, w.step()).Get(ctx, nil) == nil {
		return
	}
	// What is refused for good is taken by the next version, or with the document.
	_ = workflow.ExecuteActivity(regular(ctx, summary, 30*time.Minute, endlessRetries()), w.acts.RetireVersions, w.step()).Get(ctx, nil)
}

// late is what it means that the present stage ran out of time.
func (w *ingest) late() knowledge.Failure {
	switch w.stage {
	case knowledge.StageExtract:
		return knowledge.Failure{Code: knowledge.CodeParseLimit, Message: "the document took too long to parse", Retryable: true}
	case knowledge.StageEmbed:
		return knowledge.Failure{Code: knowledge.CodeProviderFailed, Message: "the embedding model did not answer in time; try again later", Retryable: true}
	default:
		return knowledge.Failure{Code: knowledge.CodeUnavailable, Message: "the step took too long; try again later", Retryable: true}
	}
}

func (w *ingest) step() activities.StepInput {
	return activities.StepInput{
		VersionRef: knowledge.VersionRef{
			Workspace: w.in.Workspace, Project: w.in.Project, Document: w.in.Document, Version: w.current.Version,
		},
		Run: w.current.Run,
	}
}

// sized runs a step as a local activity where the document is small, and as an
// activity of its own otherwise, or when it turns out to take long.
func (w *ingest) sized(ctx workflow.Context, small bool, stage knowledge.Stage, step, result any) error {
	w.enter(ctx, stage)
	if small {
		err := workflow.ExecuteLocalActivity(local(ctx, string(stage)), step, w.step()).Get(ctx, result)
		if !activities.IsSlow(err) {
			return err
		}
	}
	if err := w.noteStage(ctx); err != nil {
		return err
	}
	limit := 5 * time.Minute
	if stage == knowledge.StageExtract {
		limit = waitForParser
	}
	return execute(regular(ctx, string(stage), limit, storeRetries()), step, w.step(), result)
}

func (w *ingest) local(ctx workflow.Context, stage knowledge.Stage, step, result any) error {
	w.enter(ctx, stage)
	return workflow.ExecuteLocalActivity(local(ctx, string(stage)), step, w.step()).Get(ctx, result)
}

// enter begins a stage: it tells the readers of the log and the operator.
func (w *ingest) enter(ctx workflow.Context, stage knowledge.Stage) {
	w.stage = stage
	w.event(0)
	w.details(ctx)
}

// details tells the operator who opens the workflow where it stands.
func (w *ingest) details(ctx workflow.Context) {
	workflow.SetCurrentDetails(ctx, fmt.Sprintf("| version | stage | pages | chunks | embedded |\n|---|---|---|---|---|\n| %d | %s | %d | %d | %d |",
		w.current.Version, w.stage, w.counts.pages, w.counts.chunks, w.counts.embedded))
}

// noteStage lets an operator find the workflow by its stage, where a stage may
// last.
func (w *ingest) noteStage(ctx workflow.Context) error {
	if err := workflow.UpsertTypedSearchAttributes(ctx, KeyStage.ValueSet(string(w.stage))); err != nil {
		return fmt.Errorf("set stage: %w", err)
	}
	return nil
}

// DocumentState is the inline data of a documentUpdate event; the API fills in
// the rest of the document.
type DocumentState struct {
	Version    int             `json:"version"`
	Stage      knowledge.Stage `json:"stage"`
	Progress   float64         `json:"progress"`
	ChunkCount int             `json:"chunkCount,omitempty"`
	PageCount  int             `json:"pageCount,omitempty"`
}

// event tells how far the version is; part is the share of the stage, 0..1.
func (w *ingest) event(part float64) {
	w.log.add(stream.TopicDocument, stream.Event{Data: stream.Data(DocumentState{
		Version: w.current.Version, Stage: w.stage, Progress: activities.Progress(w.stage, part),
		ChunkCount: w.counts.chunks, PageCount: w.counts.pages,
	})})
}

// fetchRetries are for an address that may come back.
func fetchRetries() *temporal.RetryPolicy {
	return &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 3, MaximumInterval: time.Minute, MaximumAttempts: 5}
}

// embedTime is how long a batch may wait to be embedded, in the queue and for its
// tries: a provider may ask for a day before each of them.
const embedTime = 72 * time.Hour

// modelRetries are for embedding: a provider that limits requests for a while
// must not fail a document, so they go on for about an hour, and for longer, up
// to embedTime, where the provider asks for it.
func modelRetries() *temporal.RetryPolicy {
	return &temporal.RetryPolicy{InitialInterval: 250 * time.Millisecond, BackoffCoefficient: 2, MaximumInterval: time.Minute, MaximumAttempts: 60}
}
