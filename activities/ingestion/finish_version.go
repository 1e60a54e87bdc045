package ingestion

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/stream"
)

// FinishInput ends the run of a version or a removal. Items are the items of its log
// that the workflow has in memory, the last one included. Earlier items are in
// Segments stored segments.
type FinishInput struct {
	StepInput
	Status   knowledge.RunStatus      `json:"status"` // completed, failed or canceled
	Error    *knowledge.DocumentError `json:"error,omitempty"`
	Segments int                      `json:"segments,omitempty"`
	Items    []stream.Item            `json:"items"`
}

// Ending holds the activities that end the ingestion of a version.
type Ending struct {
	steps

	Blobs    step.Blobs
	Runs     step.RunEnds
	Hub      Hub
	Index    Index
	Embedder Embedder
	ender    step.RunEnder
	vectors  *vectors
	answers  *answers
}

// FinishVersion stores the outcome of a version and the log of its run, and ends the
// run. It is a local activity, so its input never enters history.
func (a *Ending) FinishVersion(ctx context.Context, in FinishInput) error {
	if in.Error != nil {
		err := a.Versions.FailVersion(ctx, in.VersionRef, in.Run, *in.Error)
		if err != nil && !knowledge.IsCode(err, knowledge.CodeNotFound) {
			return a.fail(ctx, in.StepInput, fmt.Errorf("note the failure: %w", err))
		}
	}
	run := knowledge.RunRef{Workspace: in.Workspace, Project: in.Project, Run: in.Run}
	end := record.Ending{Kind: knowledge.KindIngest, Error: in.Error, Usage: a.usageOfFailed(ctx, in)}
	items, err := step.WholeLog(ctx, a.Blobs, run, in.Segments, in.Items)
	if err == nil {
		err = a.ender.End(ctx, run, items, end)
	}
	if errors.Is(err, blob.ErrNoSpace) && removing(ctx, a.Versions, in.VersionRef) {
		// The removal waits for this end and frees the space, so the log is left out.
		err = a.Runs.EndAnswer(ctx, run.Workspace, run.Run, end.RunEnd("", time.Now().UTC()))
	}
	if err != nil {
		return a.fail(ctx, in.StepInput, err)
	}
	a.ended(ctx, in.StepInput, in.Status, in.Error, nil)
	return nil
}

// ended counts and logs the end of a version's run. If items is not nil, it passes
// them to the readers in this process.
func (a *Ending) ended(ctx context.Context, in StepInput, status knowledge.RunStatus, failed *knowledge.DocumentError, items []stream.Item) {
	if items != nil {
		a.Hub.Finish(in.Run, items)
	}
	a.Metrics.DocumentDone(string(status))
	a.Metrics.WorkflowDone("IngestDocument", string(status))
	log := step.Logger(a.Log, in.VersionRef, in.Run)
	if failed == nil || status == knowledge.RunCanceled {
		log.InfoContext(ctx, "ingest ended", "status", status)
		return
	}
	log.WarnContext(ctx, "ingest failed", "code", failed.Code, "stage", failed.Stage, "reason", failed.Message)
}

// removing reports whether a version is being removed or was removed.
func removing(ctx context.Context, versions Versions, ref knowledge.VersionRef) bool {
	v, err := versions.Version(ctx, ref)
	return err == nil && v.Removing || knowledge.IsCode(err, knowledge.CodeNotFound)
}

// VersionSegmentInput is a part of the log of a version's run that leaves the
// workflow's memory.
type VersionSegmentInput struct {
	StepInput
	Number int           `json:"number"` // 0 = first
	Items  []stream.Item `json:"items"`
}

// StoreVersionSegment stores a segment of a log. It is a local activity, so its
// input never enters history.
func (a *Ending) StoreVersionSegment(ctx context.Context, in VersionSegmentInput) error {
	run := knowledge.RunRef{Workspace: in.Workspace, Project: in.Project, Run: in.Run}
	if _, err := a.Blobs.PutJSON(ctx, run.SegmentKey(in.Number), stream.StoredLog{Items: in.Items}); err != nil {
		return a.fail(ctx, in.StepInput, fmt.Errorf("store log segment %d: %w", in.Number, err))
	}
	return nil
}

// DiscardInput names a version that was not published.
type DiscardInput struct {
	StepInput
	Canceled bool `json:"canceled,omitempty"`
}

// DiscardVersion deletes the chunks and index entries of a version that was not
// published, its blobs except the original, and the vectors that no other version
// names. If a retry can help, the blobs stay: it resumes from them and pays for no
// embedding twice.
func (a *Ending) DiscardVersion(ctx context.Context, in DiscardInput) error {
	defer step.Heartbeat(ctx)()
	if err := a.discard(ctx, in); err != nil {
		return a.fail(ctx, in.StepInput, fmt.Errorf("delete what version %d left: %w", in.Version, err))
	}
	return nil
}

func (a *Ending) discard(ctx context.Context, in DiscardInput) error {
	v, err := a.Versions.Version(ctx, in.VersionRef)
	if knowledge.IsCode(err, knowledge.CodeNotFound) {
		return nil // the removal deletes everything
	}
	if err != nil || v.RunID != in.Run || v.Status == knowledge.StatusPublished || v.Status == knowledge.StatusPending {
		return err // readers see the version, or it has a newer run
	}
	if err := a.Index.RemoveVersion(ctx, in.Workspace, in.Document, in.Version); err != nil {
		return fmt.Errorf("remove index entries: %w", err)
	}
	if err := a.Versions.DiscardVersion(ctx, in.VersionRef); err != nil {
		return fmt.Errorf("delete chunks: %w", err)
	}
	if v.Error != nil && v.Error.MayRetry() && !in.Canceled {
		return nil
	}
	if _, err := a.Blobs.DeletePrefix(ctx, blob.VersionPrefix(in.VersionRef), nil); err != nil {
		return fmt.Errorf("remove blobs: %w", err)
	}
	return a.vectors.dropUnnamed(ctx, in.VersionRef)
}
