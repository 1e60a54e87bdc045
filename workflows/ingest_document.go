package workflows

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/stream"
)

// The signals of IngestDocument, and its query.
const (
	SignalIngest   = "ingest"          // IngestTask: a newer version, or a retry
	SignalStop     = "stop"            // IngestStop: cancel versions
	SignalRetry    = "retry"           // nothing: a step that waits for its next try tries at once
	QueryIngesting = "cairn_ingesting" // int: the version whose steps are running; 0 = none
)

// IngestTask names a version to ingest and its run.
type IngestTask struct {
	Version int    `json:"version"`
	Run     string `json:"run"`
}

// IngestStop cancels every version up to Upto (a removal), or the run Run.
type IngestStop struct {
	Upto int    `json:"upto,omitempty"`
	Run  string `json:"run,omitempty"`
}

func (s IngestStop) covers(t IngestTask) bool { return t.Version <= s.Upto || t.Run == s.Run }

// IngestInput starts the ingestion of a document. Stopped, Resume and Log are
// carried over a continue-as-new.
type IngestInput struct {
	Workspace string        `json:"workspace"`
	Project   string        `json:"project"`
	Document  string        `json:"document"`
	Tasks     []IngestTask  `json:"tasks"`
	Stopped   []string      `json:"stopped,omitempty"` // runs that were canceled before their turn
	Resume    *IngestResume `json:"resume,omitempty"`  // the state of the first task, if it is resumed
	Log       stream.Log    `json:"log,omitzero"`

	// ListWaits means that the search attributes list long waits. Workflows that an older
	// version started do not write them.
	ListWaits bool `json:"listWaits,omitempty"`
}

// IngestResult is the end of the newest version that IngestDocument ingested.
type IngestResult struct {
	Version int                 `json:"version"`
	Status  knowledge.RunStatus `json:"status"`
	Code    knowledge.Code      `json:"code,omitempty"` // of the failure
	Stage   knowledge.Stage     `json:"stage"`          // that failed, or the last one
}

// IngestResume is the state of a long document over a continue-as-new: its chunks
// are cut, and the first Embedded of them have vectors.
type IngestResume struct {
	First    int64 `json:"first"`    // offset of the run's first event in the log
	Segments int   `json:"segments"` // segments of the run's log in the blob store
	Pages    int   `json:"pages"`
	Chunks   int   `json:"chunks"`
	Embedded int   `json:"embedded"`

	// The tries of the steps that had failed.
	Since  time.Time `json:"since,omitzero"`
	Failed int       `json:"failed,omitempty"`
	Listed bool      `json:"listed,omitempty"` // the search attributes say that a step waits
}

// IngestDocument ingests the versions of one document, one after the other,
// including those that are signaled while it runs. The result tells how the last of them
// ended: a failed version is a result and no error, which only defects of Cairn are.
func IngestDocument(ctx workflow.Context, in IngestInput) (*IngestResult, error) {
	w, err := newIngest(ctx, in)
	if err != nil {
		return nil, err
	}
	if err := w.run(ctx); err != nil {
		return nil, err
	}
	return w.result, nil
}

// ingest is the state of IngestDocument.
type ingest struct {
	in       IngestInput
	log      *eventLog
	queue    []IngestTask
	stopped  []string // runs that were canceled before their turn
	current  IngestTask
	cancel   workflow.CancelFunc // cancels the current version's steps; nil = none run
	first    int64               // offset of the current run's first event in the log
	segments int                 // stored segments of the current run's log
	stage    knowledge.Stage
	counts   struct{ pages, chunks, embedded int }
	earlier  tries                // of the embedding before a continue-as-new
	waits    []*knowledge.Waiting // of steps that wait for their next try
	shown    *knowledge.Waiting   // the one that readers see
	showing  bool                 // a coroutine tells them
	listed   bool                 // the search attributes say that a step waits, or that a version failed
	result   *IngestResult        // of the last version that ended; nil = none
	// retrySignals counts the retry signals.
	retrySignals int
	acts         ingestion.Activities // for the names of its methods only
}

func newIngest(ctx workflow.Context, in IngestInput) (*ingest, error) {
	log, err := newEventLog(ctx, in.Log)
	if err != nil {
		return nil, err
	}
	w := &ingest{in: in, log: log, queue: in.Tasks, stopped: in.Stopped}
	err = workflow.SetQueryHandler(ctx, QueryIngesting, func() (int, error) {
		if w.cancel == nil {
			return 0, nil
		}
		return w.current.Version, nil
	})
	if err != nil {
		return nil, fmt.Errorf("set query handler: %w", err)
	}
	drainOnSignal(ctx, SignalIngest, w.drain)
	drainOnSignal(ctx, SignalStop, w.drain)
	drainOnSignal(ctx, SignalRetry, w.drain)
	return w, nil
}

// errContinue ends the steps of a version that the workflow resumes after a
// continue-as-new, because the history has become long.
var errContinue = errors.New("continue as new")

func (w *ingest) run(ctx workflow.Context) error {
	resume := w.in.Resume
	for {
		w.drain(ctx)
		if len(w.queue) == 0 {
			break
		}
		w.current, w.queue = w.queue[0], w.queue[1:]
		err := w.version(ctx, resume)
		resume = nil
		switch {
		case errors.Is(err, errContinue):
			return w.continueAsNew(ctx, true)
		case err != nil:
			return err
		case workflow.GetInfo(ctx).GetContinueAsNewSuggested() && len(w.queue) > 0:
			return w.continueAsNew(ctx, false)
		}
	}
	w.log.close(ctx)
	return nil
}

// version ingests the current version and writes its end, whatever happens. It
// returns errContinue if the version is to be resumed after a continue-as-new.
func (w *ingest) version(ctx workflow.Context, resume *IngestResume) error {
	w.stage, w.first, w.segments = knowledge.StageFetch, w.log.End(), 0
	w.counts.pages, w.counts.chunks, w.counts.embedded = 0, 0, 0
	w.earlier = tries{}
	if resume != nil {
		w.stage, w.first, w.segments = knowledge.StageEmbed, resume.First, resume.Segments
		w.counts.pages, w.counts.chunks, w.counts.embedded = resume.Pages, resume.Chunks, resume.Embedded
		w.earlier, w.listed = tries{since: resume.Since, failed: resume.Failed}, resume.Listed
	}
	if resume == nil {
		if err := w.unlist(ctx); err != nil {
			return err
		}
	}
	stepsCtx, cancel := workflow.WithCancel(ctx)
	defer cancel()
	w.cancel = cancel
	end, err := w.steps(stepsCtx, resume != nil)
	w.cancel = nil
	switch {
	case errors.Is(err, errContinue):
		return err
	case end.recorded:
		if end.published {
			w.result = &IngestResult{Version: w.current.Version, Status: knowledge.RunCompleted, Stage: w.stage}
		}
		return nil
	case err == nil && !end.published:
		err = stepsCtx.Err()
	}
	err = canceled(stepsCtx, err)
	if finishErr := w.finish(ctx, end.published, err); finishErr != nil {
		return finishErr
	}
	if !end.published {
		w.discard(ctx, err)
	}
	return nil
}

func (w *ingest) finish(ctx workflow.Context, published bool, err error) error {
	end := documentEnd{
		StepInput: w.step(), kind: knowledge.KindIngest, first: w.first, segments: w.segments, stage: w.stage,
		published: published, err: err, timeout: w.timeoutFailure(),
	}
	ending := end.ending()
	w.result = &IngestResult{Version: w.current.Version, Status: ending.Status(), Stage: w.stage}
	if e := ending.Error; e != nil {
		w.result.Code, w.result.Stage, w.listed = e.Code, e.Stage, true
		w.setFailureDetails(ctx, *e)
	}
	return w.log.finish(ctx, end, w.acts.FinishVersion)
}

// continueAsNew returns the error that continues the workflow as new with the
// queued versions. If resumes is true, the current version comes first and is
// resumed. Its events that leave memory are stored before.
func (w *ingest) continueAsNew(ctx workflow.Context, resumes bool) error {
	w.drain(ctx)
	in := w.in
	in.Resume = nil
	w.log.drain(ctx)
	held := w.log.Items(w.first)
	in.Log = w.log.carry(ctx)
	if resumes {
		w.queue = slices.Concat([]IngestTask{w.current}, w.queue)
	}
	if resumes && w.counts.chunks > 0 {
		if err := w.storeSegment(ctx, held, in.Log.Base); err != nil {
			return err
		}
		in.Resume = &IngestResume{
			First: w.first, Segments: w.segments, Pages: w.counts.pages, Chunks: w.counts.chunks, Embedded: w.counts.embedded,
			Since: w.earlier.since, Failed: w.earlier.failed, Listed: w.listed,
		}
	}
	in.Tasks, in.Stopped = w.queue, w.stopped
	return workflow.NewContinueAsNewError(ctx, IngestDocument, in)
}

// storeSegment stores the events among held that lie before an offset.
func (w *ingest) storeSegment(ctx workflow.Context, held []stream.Item, before int64) error {
	count := 0
	for count < len(held) && held[count].Offset < before {
		count++
	}
	if count == 0 {
		return nil
	}
	in := ingestion.VersionSegmentInput{StepInput: w.step(), Number: w.segments, Items: held[:count]}
	w.segments++
	return workflow.ExecuteLocalActivity(finalOptions(ctx, "store a part of the log"), w.acts.StoreVersionSegment, in).Get(ctx, nil)
}

// timeoutFailure returns the failure that clients see if the current stage runs out
// of time.
func (w *ingest) timeoutFailure() knowledge.Failure {
	switch w.stage {
	case knowledge.StageExtract:
		return knowledge.Failure{Code: knowledge.CodeParseLimit, Message: "the document took too long to parse", Retryable: true}
	case knowledge.StageEmbed:
		return knowledge.Failure{Code: knowledge.CodeProviderFailed, Message: "the embedding model did not answer in time; try again later", Retryable: true}
	default:
		return knowledge.Failure{Code: knowledge.CodeUnavailable, Message: "the step took too long; try again later", Retryable: true}
	}
}

func (w *ingest) step() ingestion.StepInput {
	return ingestion.StepInput{
		VersionRef: knowledge.VersionRef{
			Workspace: w.in.Workspace, Project: w.in.Project, Document: w.in.Document, Version: w.current.Version,
		},
		Run: w.current.Run,
	}
}
