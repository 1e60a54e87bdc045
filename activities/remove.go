package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/store"
)

// RemoveInput names a document and the newest of its versions that goes.
type RemoveInput struct {
	Workspace string `json:"workspace"`
	Project   string `json:"project"`
	Document  string `json:"document"`
	Run       string `json:"run"`
	Upto      int    `json:"upto"`
}

func (in RemoveInput) removal() store.Removal {
	return store.Removal{
		Workspace: in.Workspace, Project: in.Project, Document: in.Document,
		RunID: in.Run, Upto: in.Upto,
	}
}

// Step names the removal as a step does: by its newest version.
func (in RemoveInput) Step() StepInput {
	return StepInput{
		VersionRef: knowledge.VersionRef{Workspace: in.Workspace, Project: in.Project, Document: in.Document, Version: in.Upto},
		Run:        in.Run,
	}
}

// StopInput asks an ingest to stop. Signaled says that it was told so before.
type StopInput struct {
	RemoveInput
	Signaled bool `json:"signaled,omitempty"`
}

// StopResult says whether the doomed versions are still being ingested: then it is
// to be asked again.
type StopResult struct {
	Running  bool `json:"running,omitempty"`
	Signaled bool `json:"signaled,omitempty"`
}

// StopIngest tells a running ingest, once, to give up the doomed versions, and
// reports whether a step of theirs may still run. It ends the runs of those that
// no workflow holds. The end of a run whose steps have ended is not waited for:
// it may need the space that the removal frees.
func (a *Ingestion) StopIngest(ctx context.Context, in StopInput) (StopResult, error) {
	defer heartbeat(ctx)()
	result, err := a.stopIngest(ctx, in)
	if err != nil {
		return result, a.fail(ctx, in.Step(), err)
	}
	return result, nil
}

func (a *Ingestion) stopIngest(ctx context.Context, in StopInput) (StopResult, error) {
	versions, err := a.Removals.RunningVersions(ctx, in.Workspace, in.Document, in.Upto)
	if err != nil {
		return StopResult{}, fmt.Errorf("list running versions: %w", err)
	}
	if len(versions) == 0 {
		return StopResult{}, nil
	}
	if !in.Signaled {
		running, err := a.Workflows.StopIngest(ctx, in.Workspace, in.Document, in.Upto)
		if err != nil {
			return StopResult{}, fmt.Errorf("stop ingest: %w", err)
		}
		if !running {
			return StopResult{}, a.endRuns(ctx, in.RemoveInput, versions)
		}
		return StopResult{Running: true, Signaled: true}, nil
	}
	version, err := a.Workflows.Ingesting(ctx, in.Workspace, in.Document)
	if errors.Is(err, ErrNotRunning) {
		return StopResult{}, a.endRuns(ctx, in.RemoveInput, versions)
	}
	if err != nil {
		return StopResult{}, fmt.Errorf("ask what is ingested: %w", err)
	}
	return StopResult{Running: version > 0 && version <= in.Upto, Signaled: true}, nil
}

// ErrNotRunning says that a workflow is not open.
var ErrNotRunning = errors.New("the workflow does not run")

// endRuns ends the runs of versions that no workflow holds.
func (a *Ingestion) endRuns(ctx context.Context, in RemoveInput, versions []store.Version) error {
	end := Failed(knowledge.KindIngest, knowledge.Failure{Code: knowledge.CodeCanceled, Message: "the document was removed"})
	for _, v := range versions {
		run, err := a.Runs.RunForSystem(ctx, in.Workspace, v.RunID)
		if err != nil {
			return a.fail(ctx, in.Step(), fmt.Errorf("read run %s: %w", v.RunID, err))
		}
		items, err := LeftLog(ctx, run, a.Workflows.Events)
		if err != nil {
			return a.fail(ctx, in.Step(), err)
		}
		items = append(items, end.Items(LastOffset(run, items))...)
		ref := knowledge.RunRef{Workspace: in.Workspace, Project: in.Project, Run: v.RunID}
		if err := a.ender().End(ctx, ref, items, end); err != nil {
			return a.fail(ctx, in.Step(), err)
		}
	}
	return nil
}

// RemoveEntries takes the document's vectors and full text out of the index.
func (a *Ingestion) RemoveEntries(ctx context.Context, in RemoveInput) error {
	defer heartbeat(ctx)()
	if err := a.Index.RemoveDocument(ctx, in.Workspace, in.Document, in.Upto); err != nil {
		return a.fail(ctx, in.Step(), fmt.Errorf("remove index entries: %w", err))
	}
	return nil
}

// RemoveBlobs takes the bytes of the doomed versions away, and with them the
// originals that only those name. Others are of newer versions, or of an upload
// whose version is still to come.
func (a *Ingestion) RemoveBlobs(ctx context.Context, in RemoveInput) error {
	defer heartbeat(ctx)()
	named, err := a.Removals.SourceKeys(ctx, in.Workspace, in.Document, 0)
	if err != nil {
		return a.fail(ctx, in.Step(), fmt.Errorf("list originals: %w", err))
	}
	newer, err := a.Removals.SourceKeys(ctx, in.Workspace, in.Document, in.Upto)
	if err != nil {
		return a.fail(ctx, in.Step(), fmt.Errorf("list newer originals: %w", err))
	}
	prefix := blob.DocumentPrefix(in.Workspace, in.Project, in.Document)
	_, err = a.Blobs.DeletePrefix(ctx, prefix, func(key string, _ time.Time) bool {
		step, _, _ := strings.Cut(strings.TrimPrefix(key, prefix), "/")
		if version, err := strconv.Atoi(step); err == nil {
			return version > in.Upto
		}
		return !slices.Contains(named, key) || slices.Contains(newer, key)
	})
	if err != nil {
		return a.fail(ctx, in.Step(), fmt.Errorf("remove blobs: %w", err))
	}
	return nil
}

// RemoveRows takes the document's rows away; what was uploaded under its id
// meanwhile stays and is no longer held up.
func (a *Ingestion) RemoveRows(ctx context.Context, in RemoveInput) error {
	defer heartbeat(ctx)()
	if err := a.Removals.RemoveRows(ctx, in.removal()); err != nil {
		return a.fail(ctx, in.Step(), fmt.Errorf("remove rows: %w", err))
	}
	if err := a.Removals.CheckpointWAL(ctx); err != nil {
		return a.fail(ctx, in.Step(), fmt.Errorf("truncate the write-ahead log: %w", err))
	}
	return nil
}

// FinishRemoval ends the removal's run. Local, like FinishVersion.
func (a *Ingestion) FinishRemoval(ctx context.Context, in FinishInput) error {
	run := knowledge.RunRef{Workspace: in.Workspace, Project: in.Project, Run: in.Run}
	if err := a.ender().End(ctx, run, in.Items, Ending{Kind: knowledge.KindRemove, Error: in.Error}); err != nil {
		return a.fail(ctx, in.StepInput, err)
	}
	a.Metrics.WorkflowDone("RemoveDocument", string(in.Status))
	return nil
}
