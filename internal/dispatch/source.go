package dispatch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// startGrace is how long a run may have a row and no workflow before somebody else
// starts it: the process that adds the row stores the request and starts the
// workflow next, and it can die between these steps.
const startGrace = 2 * time.Minute

// Runs is what Source needs of the store.
type Runs interface {
	step.RunEnds
	ReleaseRun(ctx context.Context, workspace, run string) error
	Version(ctx context.Context, ref knowledge.VersionRef) (store.Version, error)
	ImportForSystem(ctx context.Context, ref knowledge.ImportRef) (store.Import, error)
}

// Blobs is what Source needs of the blob store.
type Blobs interface {
	record.RequestBlobs
	PutAll(ctx context.Context, items ...blob.Item) error
}

// Source reads the logs of runs for the relay: from the blob store once a run
// has ended, from its workflow before.
type Source struct {
	workflows *Dispatcher
	runs      Runs
	blobs     Blobs
	ender     step.RunEnder
}

// NewSource returns a source that shows the ends that it writes to the readers of
// a hub.
func NewSource(d *Dispatcher, runs Runs, blobs Blobs, hub *stream.Hub) *Source {
	return &Source{workflows: d, runs: runs, blobs: blobs, ender: step.RunEnder{Blobs: blobs, Runs: runs, Hub: hub}}
}

// Stored implements stream.Source.
func (s *Source) Stored(ctx context.Context, ref stream.RunRef) ([]stream.Item, bool, error) {
	run, err := s.runs.RunForSystem(ctx, ref.Workspace, ref.Run)
	if err != nil {
		return nil, false, fmt.Errorf("read run %s: %w", ref.Run, err)
	}
	if run.Status == knowledge.RunRunning {
		return nil, false, nil
	}
	if run.LogKey == "" {
		return withoutWorkflow(ref, run), true, nil
	}
	var log stream.StoredLog
	if err := s.blobs.GetJSON(ctx, run.LogKey, &log); err != nil {
		return nil, false, fmt.Errorf("read the log of run %s: %w", ref.Run, err)
	}
	return log.Items, true, nil
}

// withoutWorkflow returns the log of a run that had no workflow to write one: a
// file that was refused beside others that were not, or a question that never
// started.
func withoutWorkflow(ref stream.RunRef, run store.Run) []stream.Item {
	if run.Error == nil {
		return nil
	}
	end := record.Failed(run.Kind, *run.Error)
	if !run.Kind.Traits().Answers {
		end.Error.Stage = knowledge.StageCheck
	}
	return end.Items(ref.FirstOffset)
}

// Query implements stream.Source. Of a workflow that has closed it returns Closed and
// no items: how its run ended is in the store, or Settle writes it there.
func (s *Source) Query(ctx context.Context, ref stream.RunRef, from int64) (stream.EventsPage, error) {
	page, err := s.workflows.openEvents(ctx, ref.WorkflowID, from)
	if errors.Is(err, errClosed) {
		return stream.EventsPage{Page: stream.Page{NextOffset: from}, Closed: true}, nil
	}
	if err != nil {
		return page, err
	}
	return s.withSegments(ctx, ref, from, page)
}

// withSegments adds what the workflow no longer holds, from the stored segments.
func (s *Source) withSegments(ctx context.Context, ref stream.RunRef, from int64, page stream.EventsPage) (stream.EventsPage, error) {
	if from >= page.Base {
		return page, nil
	}
	run := knowledge.RunRef{Workspace: ref.Workspace, Run: ref.Run}
	var older []stream.Item
	for n := 0; ; n++ {
		var segment stream.StoredLog
		err := s.blobs.GetJSON(ctx, run.SegmentKey(n), &segment)
		if errors.Is(err, blob.ErrNotFound) {
			break
		}
		if err != nil {
			return page, fmt.Errorf("read log segment %d: %w", n, err)
		}
		for _, item := range segment.Items {
			if item.Offset >= from && item.Offset < page.Base {
				older = append(older, item)
			}
		}
	}
	page.Items = append(older, page.Items...)
	return page, nil
}

// Settle implements stream.Source.
func (s *Source) Settle(ctx context.Context, ref stream.RunRef) error {
	return s.settle(ctx, ref, startGrace)
}

// SettleNow settles a run without waiting for startGrace. The caller knows that
// no process is starting the run now. A run that has no workflow is started from
// its request.
func (s *Source) SettleNow(ctx context.Context, ref stream.RunRef) error {
	return s.settle(ctx, ref, 0)
}

func (s *Source) settle(ctx context.Context, ref stream.RunRef, grace time.Duration) error {
	run, err := s.runs.RunForSystem(ctx, ref.Workspace, ref.Run)
	if err != nil || run.Status != knowledge.RunRunning {
		return err
	}
	var became *record.Ending
	if run.Kind == knowledge.KindIngest || run.Kind == knowledge.KindRemove {
		if became, err = s.documentEnd(ctx, run); err != nil || became == nil {
			return err // the sweep starts these again
		}
	}
	running, known, err := s.workflows.Running(ctx, run.WorkflowID)
	if err != nil || running || !known && isYoung(run, grace) {
		return err
	}
	// Look again: the run may have ended between the two looks.
	if run, err = s.runs.RunForSystem(ctx, ref.Workspace, ref.Run); err != nil || run.Status != knowledge.RunRunning {
		return err
	}
	switch {
	case became != nil:
		return s.end(ctx, run, *became)
	case run.Kind == knowledge.KindReindex: // the versions that it has started are not started again
		return s.workflows.Reindex(ctx, run)
	case run.Kind == knowledge.KindRemoveProject: // a removal that was accepted is completed
		return s.workflows.RemoveProject(ctx, run)
	case run.Kind == knowledge.KindEvaluate && !known: // its items that have ended are not asked again
		return s.startEvaluation(ctx, run)
	case run.Kind == knowledge.KindRetention:
		return s.workflows.Retain(ctx, run)
	case run.Kind == knowledge.KindGenerate && !known: // what is stored is not asked for again
		return s.startGeneration(ctx, run)
	case run.Kind == knowledge.KindErase: // one that was accepted is completed
		return s.workflows.EraseSubject(ctx, run)
	case run.Kind == knowledge.KindExport && !known:
		return s.workflows.ExportSubject(ctx, run)
	case known:
		return s.end(ctx, run, record.Failed(run.Kind, knowledge.Failure{Code: knowledge.CodeInternal, Message: "the run was ended from outside; ask again"}))
	case run.Kind == knowledge.KindImport:
		return s.startImport(ctx, run)
	}
	return s.start(ctx, run)
}

// isYoung reports whether a run was created less than grace ago. One that was created much
// later than now is not: the clock was ahead.
func isYoung(run store.Run, grace time.Duration) bool { return time.Since(run.CreatedAt).Abs() < grace }

// startEvaluation starts the workflow of an evaluation that has none. One without a request
// cannot be started.
func (s *Source) startEvaluation(ctx context.Context, run store.Run) error {
	var snapshot record.Evaluation
	err := s.blobs.GetJSON(ctx, knowledge.RunRef{Workspace: run.Workspace, Project: run.Project, Run: run.ID}.RequestKey(), &snapshot)
	if err == nil {
		return s.workflows.Evaluate(ctx, run, snapshot.Settings)
	}
	if !errors.Is(err, blob.ErrNotFound) || isYoung(run, startGrace) {
		return err
	}
	return s.end(ctx, run, record.Failed(run.Kind, knowledge.Failure{Code: knowledge.CodeUnavailable, Message: "the server stopped before the evaluation had started; start it again"}))
}

// startGeneration starts the workflow of a generation that has none. One without a request cannot be
// started.
func (s *Source) startGeneration(ctx context.Context, run store.Run) error {
	var snapshot record.Generation
	err := s.blobs.GetJSON(ctx, knowledge.RunRef{Workspace: run.Workspace, Project: run.Project, Run: run.ID}.RequestKey(), &snapshot)
	if err == nil {
		return s.workflows.Generate(ctx, run)
	}
	if !errors.Is(err, blob.ErrNotFound) || isYoung(run, startGrace) {
		return err
	}
	return s.end(ctx, run, record.Failed(run.Kind, knowledge.Failure{Code: knowledge.CodeUnavailable, Message: "the server stopped before the generation had started; start it again"}))
}

// startImport starts the workflow of an import that has none.
func (s *Source) startImport(ctx context.Context, run store.Run) error {
	i, err := s.runs.ImportForSystem(ctx, knowledge.ImportRef{Workspace: run.Workspace, Project: run.Project, Import: run.Subject})
	if err != nil {
		return err
	}
	return s.workflows.Import(ctx, i)
}

// documentEnd returns how a version, or a removal, ended; nil if it has not yet.
func (s *Source) documentEnd(ctx context.Context, run store.Run) (*record.Ending, error) {
	v, err := s.runs.Version(ctx, knowledge.VersionRef{Workspace: run.Workspace, Project: run.Project, Document: run.Subject, Version: run.Version})
	gone := knowledge.IsCode(err, knowledge.CodeNotFound)
	if err != nil && !gone {
		return nil, err
	}
	end := record.VersionEnding(v)
	end.Kind = run.Kind
	switch {
	case run.Kind == knowledge.KindRemove:
		if !gone {
			return nil, nil
		}
	case gone:
		removed := record.Failed(run.Kind, knowledge.Failure{Code: knowledge.CodeCanceled, Message: "the document was removed"})
		return &removed, nil
	case v.RunID != run.ID:
		end = record.Failed(run.Kind, knowledge.Failure{Code: knowledge.CodeInternal, Message: "the run was ended from outside; another one took its place"})
	case v.Status == knowledge.StatusPending:
		return nil, nil
	}
	return &end, nil
}

// start starts the workflow of a run that has none. Without a request there is
// nothing to start, and the same question may be asked again under its key.
func (s *Source) start(ctx context.Context, run store.Run) error {
	of := knowledge.RunRef{Workspace: run.Workspace, Project: run.Project, Run: run.ID}
	request, err := record.ReadRequest(ctx, s.blobs, of)
	if err == nil {
		in := record.NewAnswerInput(of, request)
		in.After = run.After
		return s.workflows.Answer(ctx, run.Kind, in)
	}
	if !errors.Is(err, blob.ErrNotFound) || isYoung(run, startGrace) {
		return err
	}
	failed := knowledge.Failure{Code: knowledge.CodeUnavailable, Message: "the server stopped before the run had started; ask again"}
	if err := s.end(ctx, run, record.Failed(run.Kind, failed)); err != nil {
		return err
	}
	return s.runs.ReleaseRun(ctx, run.Workspace, run.ID)
}

// end ends a run whose workflow will not: it stores the items that the closed
// workflow left, and the ending behind them.
func (s *Source) end(ctx context.Context, run store.Run, end record.Ending) error {
	ref := stream.RunRef{Workspace: run.Workspace, Run: run.ID}
	items, err := record.LeftLog(ctx, run, func(ctx context.Context, workflowID string, from int64) (stream.EventsPage, error) {
		page, err := s.workflows.Events(ctx, workflowID, from)
		if err != nil {
			return page, err
		}
		return s.withSegments(ctx, ref, from, page)
	})
	if err != nil {
		return err
	}
	items = append(items, end.Items(record.LastOffset(run, items))...)
	if run.Kind.Traits().OwnLog { // it does not end with the run's workflow
		err := s.workflows.Publish(ctx, run.LogWorkflowID(), stream.Batch{Items: end.Entries(), PublisherID: "end", Sequence: 1})
		if err != nil && !isMissing(err) {
			return err
		}
	}
	return s.ender.End(ctx, knowledge.RunRef{Workspace: run.Workspace, Run: run.ID}, items, end)
}
