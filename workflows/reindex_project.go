package workflows

import (
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/workflow"

	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
)

// SignalReindex is the signal of ReindexProject that pauses and resumes it:
// ReindexControl.
const SignalReindex = "reindex_control"

// maxReindexing is how many versions of a reindex are pending at a time. The next page
// starts when there is room for half a page.
const maxReindexing = 200

// The time between two looks at the versions that are pending: the first after a page,
// and the longest.
const (
	firstLook   = 500 * time.Millisecond
	longestLook = 5 * time.Second
)

// ReindexControl pauses a reindex, or resumes it.
type ReindexControl struct {
	Paused bool `json:"paused"`
}

// ReindexInput starts a reindex. The fields after Run are carried over a
// continue-as-new.
type ReindexInput struct {
	ingestion.ReindexState
	Fill   *FillState `json:"fill,omitempty"`   // nil = the vectors stay as they are
	After  string     `json:"after,omitempty"`  // id of the last document of the page before
	Listed bool       `json:"listed,omitempty"` // no page is left
	Log    stream.Log `json:"log,omitzero"`
}

// ReindexProject embeds the documents of a project again if it reads vectors of another
// model than its configuration asks for. Then it makes new versions of the outdated
// documents, page by page, while the old versions serve. It ends when the versions have
// ended.
func ReindexProject(ctx workflow.Context, in ReindexInput) error {
	w, err := newReindexProject(ctx, in)
	if err != nil {
		return err
	}
	err = w.run(ctx)
	if errors.Is(err, errContinueReindex) {
		w.drain(ctx)
		w.in.Log = w.log.carry(ctx)
		return workflow.NewContinueAsNewError(ctx, ReindexProject, w.in)
	}
	return w.finish(ctx, canceled(ctx, err))
}

// errContinueReindex asks for a continue-as-new.
var errContinueReindex = errors.New("the history is long")

type reindexProject struct {
	in   ReindexInput
	log  *eventLog
	acts ingestion.Activities // for the names of its methods only
	last time.Time            // until which the work is counted
	look time.Duration        // to wait before the next look
}

func newReindexProject(ctx workflow.Context, in ReindexInput) (*reindexProject, error) {
	log, err := newEventLog(ctx, in.Log)
	if err != nil {
		return nil, err
	}
	w := &reindexProject{in: in, log: log, last: workflow.Now(ctx), look: firstLook}
	drainOnSignal(disconnected(ctx), SignalReindex, w.drain)
	return w, nil
}

// drain receives every waiting signal. The last one counts.
func (w *reindexProject) drain(ctx workflow.Context) {
	for {
		var c ReindexControl
		if !workflow.GetSignalChannel(ctx, SignalReindex).ReceiveAsync(&c) {
			return
		}
		w.count(ctx)
		w.in.Paused = c.Paused
	}
}

// count adds the time since the last call to the time of work, unless it was paused.
func (w *reindexProject) count(ctx workflow.Context) {
	now := workflow.Now(ctx)
	if !w.in.Paused {
		w.in.Seconds += now.Sub(w.last).Seconds()
	}
	w.last = now
}

// run starts the versions and blocks until they have ended. It returns the error of ctx
// after a cancel.
func (w *reindexProject) run(ctx workflow.Context) error {
	for {
		w.drain(ctx)
		p, err := w.note(ctx)
		switch {
		case err != nil:
			return err
		case w.in.Paused:
			err = workflow.Await(ctx, func() bool { return !w.in.Paused })
		case w.in.Fill != nil && !w.in.Fill.Done:
			err = w.fill(ctx)
		case w.in.Fill != nil && w.in.Fill.Rebuild:
			return nil
		case !w.in.Listed && p.Pending() <= maxReindexing-ingestion.ReindexPageSize/2:
			err = w.page(ctx, min(ingestion.ReindexPageSize, maxReindexing-p.Pending()))
		case w.in.Listed && p.Pending() == 0:
			return nil
		default:
			err = w.rest(ctx)
		}
		if err != nil {
			return err
		}
		if workflow.GetInfo(ctx).GetContinueAsNewSuggested() {
			return errContinueReindex
		}
	}
}

// note stores how far the reindex is.
func (w *reindexProject) note(ctx workflow.Context) (p knowledge.ReindexProgress, err error) {
	w.count(ctx)
	if err := localStep(ctx, "note the progress", w.acts.NoteReindex, w.in.ReindexState, &p); err != nil {
		return p, err
	}
	workflow.SetCurrentDetails(ctx, fmt.Sprintf("| matched | started | published | failed | refused | paused |\n|---|---|---|---|---|---|\n| %d | %d | %d | %d | %d | %t |",
		p.Matched, p.Started, p.Published, p.Failed, p.Refused, p.Paused))
	return p, nil
}

// page starts the versions of the next page of documents.
func (w *reindexProject) page(ctx workflow.Context, limit int) error {
	in := ingestion.StartVersionsInput{RunRef: w.in.RunRef, After: w.in.After, Limit: limit}
	var result ingestion.StartVersionsResult
	options := activityOptions(ctx, "start versions", time.Hour, endlessRetries())
	if err := workflow.ExecuteActivity(options, w.acts.StartVersions, in).Get(ctx, &result); err != nil {
		return err
	}
	w.in.After, w.in.Listed, w.look = result.After, result.After == "", firstLook
	w.in.Refused += result.Refused
	room := knowledge.MaxRefusals - len(w.in.Refusals)
	w.in.Refusals = append(w.in.Refusals, result.Refusals[:min(room, len(result.Refusals))]...)
	return nil
}

// rest blocks until the next look, or until the reindex is paused.
func (w *reindexProject) rest(ctx workflow.Context) error {
	pause := w.look
	w.look = min(2*w.look, longestLook)
	_, err := workflow.AwaitWithOptions(ctx, workflow.AwaitOptions{
		Timeout: pause, TimerOptions: workflow.TimerOptions{Summary: "wait for the versions"},
	}, func() bool { return w.in.Paused })
	return err
}

// finish writes the end of the reindex in SQL, in the stored log and in the workflow's
// log. Versions that are pending after a cancel are ingested all the same.
func (w *reindexProject) finish(ctx workflow.Context, err error) error {
	ctx = disconnected(ctx)
	if gaveUp := w.giveUpFill(ctx, err); gaveUp != nil && err == nil {
		err = gaveUp
	}
	w.count(ctx)
	w.in.Paused = false
	ending := record.Ending{Kind: knowledge.KindReindex}
	if err != nil {
		ending = record.Failed(knowledge.KindReindex, step.Describe(err, knowledge.Failure{Code: knowledge.CodeUnavailable, Message: "the reindex took too long", Retryable: true}))
	}
	if err := setStatusAttribute(ctx, ending.Status()); err != nil {
		return err
	}
	in := ingestion.FinishReindexInput{ReindexState: w.in.ReindexState, Error: ending.Error, Items: w.log.itemsWith(0, ending)}
	if err := workflow.ExecuteLocalActivity(finalOptions(ctx, "finish"), w.acts.FinishReindex, in).Get(ctx, nil); err != nil {
		return fmt.Errorf("finish run %s: %w", w.in.Run, err)
	}
	w.log.end(ending)
	w.log.close(ctx)
	return nil
}
