package ingestion

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// ReindexPageSize is how many versions one call of StartVersions starts at most.
const ReindexPageSize = 100

// Reindexes is the part of the store that makes new versions of the outdated documents
// of a project. Every method is idempotent.
type Reindexes interface {
	// ProjectForSystem returns a project.
	ProjectForSystem(ctx context.Context, workspace, id string) (knowledge.Project, error)
	// OutdatedDocuments lists outdated documents; more is "" after the last page.
	OutdatedDocuments(ctx context.Context, q store.OutdatedQuery) (list []store.Outdated, more string, err error)
	// ReindexVersion adds a version of a document for a reindex. started is false if
	// the document is no longer outdated, CodeConflict if it is being removed.
	ReindexVersion(ctx context.Context, reindex string, o store.Outdated, config knowledge.ProjectConfig) (v store.Version, started bool, err error)
	// WantedGeneration returns the generation of vectors that a configuration asks for.
	WantedGeneration(config knowledge.ProjectConfig) string
	// BeginFilling makes a generation one that new versions are written in too.
	BeginFilling(ctx context.Context, workspace, project, generation string) (knowledge.Generations, error)
	// EndFilling undoes BeginFilling, unless the generation serves.
	EndFilling(ctx context.Context, workspace, project, generation string) error
	// SwitchGeneration makes the generation that was filled the one that searches read.
	SwitchGeneration(ctx context.Context, workspace, project, generation string) (switched bool, err error)
	// PublishedVersions lists the published versions of a project by document.
	PublishedVersions(ctx context.Context, workspace, project, after string, limit int) ([]store.PublishedVersion, error)
	// ChunksForSystem returns the chunks [first, last) of a version.
	ChunksForSystem(ctx context.Context, ref knowledge.VersionRef, first, last int) ([]knowledge.Chunk, error)
	// ReindexProgress stores the part of the progress that the workflow knows, adds the
	// outcomes of the versions, and returns the whole.
	ReindexProgress(ctx context.Context, workspace, id string, part knowledge.ReindexProgress, seconds float64) (knowledge.ReindexProgress, error)
}

// StartVersionsInput asks for new versions of the outdated documents after a document.
type StartVersionsInput struct {
	knowledge.RunRef
	After string `json:"after,omitempty"`
	Limit int    `json:"limit"`
}

// StartVersionsResult is a page of documents. After is "" after the last page.
type StartVersionsResult struct {
	After    string              `json:"after,omitempty"`
	Refused  int                 `json:"refused,omitempty"`
	Refusals []knowledge.Refusal `json:"refusals,omitempty"` // the first of them
}

// Reindexing holds the activities of ReindexProject that make new versions.
type Reindexing struct {
	Blobs     step.Blobs
	Reindexes Reindexes
	Workflows Workflows
	Embedder  Embedder
	Metrics   Metrics
	Log       *slog.Logger
	ender     step.RunEnder
}

// StartVersions adds and starts a new version of each document of a page, with the
// project's configuration of now. A document of which none can be made is refused. The
// sweep starts the versions that a crash left without a workflow.
func (a *Reindexing) StartVersions(ctx context.Context, in StartVersionsInput) (StartVersionsResult, error) {
	defer step.Heartbeat(ctx)()
	result, err := a.startVersions(ctx, in)
	if err != nil {
		return result, step.Failure(ctx, a.Log.With("workspace", in.Workspace, "project", in.Project, "run", in.Run), err)
	}
	return result, nil
}

func (a *Reindexing) startVersions(ctx context.Context, in StartVersionsInput) (result StartVersionsResult, err error) {
	project, err := a.Reindexes.ProjectForSystem(ctx, in.Workspace, in.Project)
	if err != nil {
		return result, err
	}
	list, more, err := a.Reindexes.OutdatedDocuments(ctx, store.OutdatedQuery{
		Workspace: in.Workspace, Project: in.Project, Config: project.Config, After: in.After, Limit: in.Limit,
	})
	if err != nil {
		return result, err
	}
	result.After = more
	for _, o := range list {
		if err := ctx.Err(); err != nil {
			return result, context.Cause(ctx)
		}
		err := a.startVersion(ctx, in.Run, o, project.Config)
		if refusal, ok := refused(o, err); ok {
			result.Refused++
			result.Refusals = append(result.Refusals, refusal)
		} else if err != nil {
			return result, err
		}
	}
	result.Refusals = result.Refusals[:min(len(result.Refusals), knowledge.MaxRefusals)]
	return result, nil
}

// startVersion adds and starts a version. The error of a document that cannot be made
// again is CodeConflict or CodeEncrypted.
func (a *Reindexing) startVersion(ctx context.Context, reindex string, o store.Outdated, config knowledge.ProjectConfig) error {
	switch {
	case o.Removing:
		return knowledge.Errorf(knowledge.CodeConflict, "this document is being removed")
	case o.HadPassword:
		return knowledge.Errorf(knowledge.CodeEncrypted, "the file was uploaded with a password, which is not kept: upload it again with override.password")
	}
	stored := o.SourceKey != ""
	if stored {
		var err error
		if stored, err = a.Blobs.Exists(ctx, o.SourceKey); err != nil {
			return fmt.Errorf("look for the original of document %s: %w", o.Document, err)
		}
	}
	if !stored {
		return knowledge.Errorf(knowledge.CodeConflict, "the original is not stored: upload the file again")
	}
	v, started, err := a.Reindexes.ReindexVersion(ctx, reindex, o, config)
	if err != nil || !started || v.Status != knowledge.StatusPending {
		return err
	}
	return a.Workflows.IngestLater(ctx, v)
}

// refused returns the refusal that an error stands for, if it does.
func refused(o store.Outdated, err error) (knowledge.Refusal, bool) {
	if !knowledge.IsCode(err, knowledge.CodeConflict) && !knowledge.IsCode(err, knowledge.CodeEncrypted) {
		return knowledge.Refusal{}, false
	}
	e := knowledge.AsError(err)
	return knowledge.Refusal{ID: o.Document, Code: e.Code, Message: e.Message}, true
}

// ReindexState is the part of the progress of a reindex that its workflow knows.
type ReindexState struct {
	knowledge.RunRef
	Refused  int                 `json:"refused,omitempty"`
	Refusals []knowledge.Refusal `json:"refusals,omitempty"`
	Paused   bool                `json:"paused,omitempty"`
	Filled   int                 `json:"filled,omitempty"`
	Seconds  float64             `json:"seconds,omitempty"` // of work
	Usage    knowledge.Usage     `json:"usage,omitzero"`    // for vectors of another model
}

// NoteReindex stores and returns how far a reindex is.
func (a *Reindexing) NoteReindex(ctx context.Context, in ReindexState) (knowledge.ReindexProgress, error) {
	part := knowledge.ReindexProgress{Refused: in.Refused, Refusals: in.Refusals, Paused: in.Paused, Embedded: in.Filled}
	p, err := a.Reindexes.ReindexProgress(ctx, in.Workspace, in.Run, part, in.Seconds)
	if err != nil {
		return p, step.Failure(ctx, a.Log.With("workspace", in.Workspace, "project", in.Project, "run", in.Run), err)
	}
	return p, nil
}

// FinishReindexInput ends a reindex. Items are its whole log.
type FinishReindexInput struct {
	ReindexState
	Error *knowledge.DocumentError `json:"error,omitempty"`
	Items []stream.Item            `json:"items"`
}

// FinishReindex stores the progress and the end of a reindex. It is a local activity.
func (a *Reindexing) FinishReindex(ctx context.Context, in FinishReindexInput) error {
	if _, err := a.NoteReindex(ctx, in.ReindexState); err != nil {
		return err
	}
	log := a.Log.With("workspace", in.Workspace, "project", in.Project, "run", in.Run)
	end := record.Ending{Kind: knowledge.KindReindex, Error: in.Error, Usage: knowledge.RunUsage{Usage: in.Usage, Model: a.Embedder.Endpoint().Model}.Encode()}
	if err := a.ender.End(ctx, in.RunRef, in.Items, end); err != nil {
		return step.Failure(ctx, log, err)
	}
	a.Metrics.WorkflowDone("ReindexProject", string(end.Status()))
	log.InfoContext(ctx, "reindex ended", "status", end.Status())
	return nil
}
