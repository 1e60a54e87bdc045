package ingestion

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
)

// RemoveInput names a document and the newest of its versions to remove.
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

// Step returns the removal as the input of a step of its newest version.
func (in RemoveInput) Step() StepInput {
	return StepInput{
		VersionRef: knowledge.VersionRef{Workspace: in.Workspace, Project: in.Project, Document: in.Document, Version: in.Upto},
		Run:        in.Run,
	}
}

// StopInput asks an ingest to stop. Signaled reports that it has its signal.
type StopInput struct {
	RemoveInput
	Signaled bool `json:"signaled,omitempty"`
}

// StopResult reports whether a step of the versions to remove may still run. The
// workflow then calls StopIngest again.
type StopResult struct {
	Running  bool `json:"running,omitempty"`
	Signaled bool `json:"signaled,omitempty"`
}

// Removing holds the activities of RemoveDocument.
type Removing struct {
	stepLog

	Removals  Removals
	Children  Children
	Workflows Workflows
	Index     Index
	Blobs     step.Blobs
	Metrics   Metrics
	ender     step.RunEnder
	vectors   *vectors
	stopping  *stopping
}

// stopping stops the ingestion of documents that are removed.
type stopping struct {
	stepLog

	Removals  Removals
	Runs      step.RunEnds
	Workflows Workflows
	ender     step.RunEnder
}

// StopIngest signals a running ingest, once, to cancel the versions to remove, and
// reports whether one of their steps may still run. It ends the runs of versions
// that no workflow has. It does not wait for the end of a run whose steps have
// ended, which may need the space that the removal frees.
func (a *Removing) StopIngest(ctx context.Context, in StopInput) (StopResult, error) {
	defer step.Heartbeat(ctx)()
	result, err := a.stopping.stopIngest(ctx, in)
	if err != nil {
		return result, a.fail(ctx, in.Step(), err)
	}
	return result, nil
}

func (a *stopping) stopIngest(ctx context.Context, in StopInput) (StopResult, error) {
	versions, err := a.Removals.RunningVersions(ctx, in.Workspace, in.Document, in.Upto)
	if err != nil {
		return StopResult{}, fmt.Errorf("list running versions: %w", err)
	}
	claimed, err := a.Removals.HasClaim(ctx, in.Workspace, in.Document, in.Upto)
	if err != nil {
		return StopResult{}, err
	}
	if claimed { // by an import, which ends within seconds what it has claimed
		return StopResult{Running: true, Signaled: in.Signaled}, nil
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
		return StopResult{}, fmt.Errorf("query the running ingest: %w", err)
	}
	return StopResult{Running: version > 0 && version <= in.Upto, Signaled: true}, nil
}

// ErrNotRunning reports that a workflow is not open.
var ErrNotRunning = errors.New("the workflow does not run")

// endRuns ends the runs of versions that no workflow has.
func (a *stopping) endRuns(ctx context.Context, in RemoveInput, versions []store.Version) error {
	for _, v := range versions {
		run, err := a.Runs.RunForSystem(ctx, in.Workspace, v.RunID)
		if err != nil {
			return a.fail(ctx, in.Step(), fmt.Errorf("read run %s: %w", v.RunID, err))
		}
		if err := a.endLost(ctx, run, "the document was removed"); err != nil {
			return a.fail(ctx, in.Step(), err)
		}
	}
	return nil
}

// endLost ends a run that no workflow has as canceled, for a reason.
func (a *stopping) endLost(ctx context.Context, run store.Run, reason string) error {
	end := record.Failed(run.Kind, knowledge.Failure{Code: knowledge.CodeCanceled, Message: reason})
	items, err := record.LeftLog(ctx, run, a.Workflows.Events)
	if err != nil {
		return err
	}
	items = append(items, end.Items(record.LastOffset(run, items))...)
	return a.ender.End(ctx, knowledge.RunRef{Workspace: run.Workspace, Project: run.Project, Run: run.ID}, items, end)
}

// RemoveEntries deletes the index entries of the versions to remove.
func (a *Removing) RemoveEntries(ctx context.Context, in RemoveInput) error {
	defer step.Heartbeat(ctx)()
	if err := a.Index.RemoveDocument(ctx, in.Workspace, in.Document, in.Upto); err != nil {
		return a.fail(ctx, in.Step(), fmt.Errorf("remove index entries: %w", err))
	}
	return nil
}

// RemoveBlobs deletes the blobs of the versions to remove, and the vectors and the
// originals that only these versions name. Other originals are of newer versions, or of an upload
// whose version is not stored yet.
func (a *Removing) RemoveBlobs(ctx context.Context, in RemoveInput) error {
	defer step.Heartbeat(ctx)()
	named, err := a.Removals.SourceKeys(ctx, in.Workspace, in.Document, 0)
	if err != nil {
		return a.fail(ctx, in.Step(), fmt.Errorf("list originals: %w", err))
	}
	newer, err := a.Removals.SourceKeys(ctx, in.Workspace, in.Document, in.Upto)
	if err != nil {
		return a.fail(ctx, in.Step(), fmt.Errorf("list newer originals: %w", err))
	}
	unnamed := slices.DeleteFunc(named, func(key string) bool { return slices.Contains(newer, key) })
	err = a.deleteArchives(ctx, in)
	if err == nil { // last, since it also empties the write-ahead log of the blobs
		err = a.vectors.deleteVersions(ctx, in.Step().VersionRef, func(version int) bool { return version > in.Upto }, nil, unnamed)
	}
	if err != nil {
		return a.fail(ctx, in.Step(), err)
	}
	return nil
}

// deleteArchives deletes the archives that contain the document and were kept because
// other objects in them failed. These can no longer be retried.
func (a *Removing) deleteArchives(ctx context.Context, in RemoveInput) error {
	imports, err := a.Removals.ArchiveImports(ctx, in.Workspace, in.Project)
	if err != nil {
		return err
	}
	for _, ref := range imports {
		kept, err := a.Blobs.Exists(ctx, ref.ArchiveKey())
		if err == nil && kept {
			kept, err = a.Removals.ImportContains(ctx, ref, in.Document)
		}
		if err == nil && kept {
			err = a.Blobs.Delete(ctx, ref.ArchiveKey())
		}
		if err != nil {
			return fmt.Errorf("delete the archive of import %s: %w", ref.Import, err)
		}
	}
	return nil
}

// deleteVersions deletes the blobs of the versions of a document for which living
// returns false: the results of their steps but for those in kept, the given originals, and
// the vectors that no living version names.
func (a *vectors) deleteVersions(ctx context.Context, ref knowledge.VersionRef, living func(version int) bool, kept map[string]bool, originals []string) error {
	named, err := a.namedWindows(ctx, ref, living)
	if err != nil {
		return err
	}
	prefix := blob.DocumentPrefix(ref.Workspace, ref.Project, ref.Document)
	_, err = a.Blobs.DeletePrefix(ctx, prefix, func(key string, _ time.Time) bool {
		folder, _, _ := strings.Cut(strings.TrimPrefix(key, prefix), "/")
		if version, err := strconv.Atoi(folder); err == nil {
			return living(version) || kept[key]
		}
		if folder+"/" == vectorFolder {
			return named[key]
		}
		return !slices.ContainsFunc(originals, func(original string) bool { return strings.HasPrefix(key, blob.UploadFolder(original)) })
	})
	if err != nil {
		return fmt.Errorf("remove blobs: %w", err)
	}
	return nil
}

// RemoveRows deletes the rows of the versions to remove. Newer versions under the
// same id stay, and no longer wait. It then empties the write-ahead log, deletes the
// histories of the ended ingests, and starts the removal of the attachments.
func (a *Removing) RemoveRows(ctx context.Context, in RemoveInput) error {
	defer step.Heartbeat(ctx)()
	if err := a.Removals.RemoveRows(ctx, in.removal()); err != nil {
		return a.fail(ctx, in.Step(), fmt.Errorf("remove rows: %w", err))
	}
	if err := a.Removals.EraseDeleted(ctx); err != nil {
		return a.fail(ctx, in.Step(), fmt.Errorf("truncate the write-ahead log: %w", err))
	}
	if _, err := a.forget(ctx, in.removal()); err != nil {
		return a.fail(ctx, in.Step(), err)
	}
	return nil
}

// FinishRemoval ends the removal's run. It is a local activity, like FinishVersion.
func (a *Removing) FinishRemoval(ctx context.Context, in FinishInput) error {
	run := knowledge.RunRef{Workspace: in.Workspace, Project: in.Project, Run: in.Run}
	if err := a.ender.End(ctx, run, in.Items, record.Ending{Kind: knowledge.KindRemove, Error: in.Error}); err != nil {
		return a.fail(ctx, in.StepInput, err)
	}
	a.Metrics.WorkflowDone("RemoveDocument", string(in.Status))
	step.Logger(a.Log, in.VersionRef, in.Run).InfoContext(ctx, "removal ended", "status", in.Status)
	return nil
}
