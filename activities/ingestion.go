package activities

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/safedial"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/stream"
)

// BatchSize is how many chunks one embedding request holds at most.
const BatchSize = 64

// smallBytes is up to what size a text document is ingested without giving each
// step an activity of its own: its steps end within milliseconds.
const smallBytes = 256 << 10

// IngestionConfig bounds what is accepted.
type IngestionConfig struct {
	FileBytes int64 // of one file. Defaults to 100 MB.
	TextBytes int64 // of one text. Defaults to 20 MB.
	// TempDir is where originals are copied to for the parsers. A kill leaves them
	// there. Defaults to the system's folder.
	TempDir string
}

// Ingestion holds the activities of IngestDocument and RemoveDocument.
type Ingestion struct {
	Config     IngestionConfig
	Blobs      Blobs
	Versions   Versions
	Removals   Removals
	Runs       Runs
	Index      Index
	Attributes *Attributes
	Extractor  Extractor
	Embedder   Embedder
	Workflows  Workflows
	Dialer     *safedial.Dialer
	Hub        Hub
	Metrics    Metrics
	Log        *slog.Logger
}

// StepInput names the version that a step works on.
type StepInput struct {
	knowledge.VersionRef
	Run string `json:"run"`
}

// BeginInput starts the ingestion of a version. FirstOffset is where the run's
// events begin in the workflow's log.
type BeginInput struct {
	StepInput
	FirstOffset int64 `json:"first_offset"`
}

// BeginResult says how to go on.
type BeginResult struct {
	Ended    bool `json:"ended,omitempty"`    // its run is over
	Removing bool `json:"removing,omitempty"` // it is being removed
	Blocked  bool `json:"blocked,omitempty"`  // an older removal is under way: ask again
	Fetch    bool `json:"fetch,omitempty"`    // the original is at an address and must be fetched
}

// BeginVersion marks a version as taken up.
func (a *Ingestion) BeginVersion(ctx context.Context, in BeginInput) (BeginResult, error) {
	v, err := a.Versions.BeginVersion(ctx, in.VersionRef, in.Run, in.FirstOffset)
	switch {
	case knowledge.IsCode(err, knowledge.CodeNotFound):
		return BeginResult{Ended: true}, nil
	case err != nil:
		return BeginResult{}, a.fail(ctx, in.StepInput, fmt.Errorf("begin version: %w", err))
	}
	result := BeginResult{
		Ended:    v.RunID != in.Run || !v.Removing && v.Status != knowledge.StatusPending,
		Removing: v.Removing,
		Blocked:  v.Blocked,
		Fetch:    v.SourceURL != "",
	}
	if result.Ended && v.RunID == in.Run {
		err = a.over(ctx, in.StepInput, v)
	}
	return result, err
}

// over ends the run of a version that nobody will ingest: it has ended, or a
// newer one was published before its turn came.
func (a *Ingestion) over(ctx context.Context, in StepInput, v store.Version) error {
	run, err := a.Runs.RunForSystem(ctx, in.Workspace, in.Run)
	if err != nil {
		return a.fail(ctx, in, fmt.Errorf("read run: %w", err))
	}
	if run.Status != knowledge.RunRunning {
		return nil
	}
	data := EndOf(v)
	last, err := stream.NewEntry(stream.TopicEnded, stream.Event{Data: stream.Data(data)})
	if err != nil {
		return a.fail(ctx, in, err)
	}
	items := []stream.Item{{Topic: last.Topic, Data: last.Data, Offset: LastOffset(run, nil)}}
	return a.FinishVersion(ctx, FinishInput{StepInput: in, Status: data.Status, Error: data.Error, Items: items})
}

// step runs one stage of ingestion and measures it.
func (a *Ingestion) step(ctx context.Context, in StepInput, stage knowledge.Stage, work func(store.Version) error) error {
	start := time.Now()
	v, err := a.Versions.Version(ctx, in.VersionRef)
	if err != nil {
		return a.fail(ctx, in, fmt.Errorf("read version: %w", err))
	}
	if err := work(v); err != nil {
		return a.fail(ctx, in, fmt.Errorf("%s: %w", stage, err))
	}
	a.Metrics.IngestStage(string(stage), time.Since(start).Seconds())
	return nil
}

// stage notes in SQL which stage a version enters, and what is known of it by now.
func (a *Ingestion) stage(ctx context.Context, ref knowledge.VersionRef, stage knowledge.Stage, facts store.Facts) error {
	if err := a.Versions.SetStage(ctx, ref, stage, Progress(stage, 0), facts); err != nil {
		return fmt.Errorf("note stage %s: %w", stage, err)
	}
	return nil
}

// onItsWay notes in SQL how far a version is, part of the stage being done, where
// there is no more to note. A step that is a local activity ends within
// milliseconds, and does not.
func (a *Ingestion) onItsWay(ctx context.Context, ref knowledge.VersionRef, stage knowledge.Stage, part float64) error {
	if activity.GetInfo(ctx).IsLocalActivity {
		return nil
	}
	if err := a.Versions.SetStage(ctx, ref, stage, Progress(stage, part), store.Facts{}); err != nil {
		return fmt.Errorf("note stage %s: %w", stage, err)
	}
	return nil
}

func (a *Ingestion) fail(ctx context.Context, in StepInput, err error) error {
	return failure(ctx, logger(a.Log, in.VersionRef, in.Run), err)
}

// Progress is the share of a version's work that is done when part of a stage is,
// both 0..1. Only embedding has parts.
func Progress(stage knowledge.Stage, part float64) float64 {
	switch stage {
	case knowledge.StageCheck:
		return 0.05
	case knowledge.StageExtract:
		return 0.1
	case knowledge.StageEnrich:
		return 0.3
	case knowledge.StageChunk:
		return 0.35
	case knowledge.StageEmbed:
		return 0.4 + part*0.5
	case knowledge.StagePublish:
		return 0.9
	default:
		return 0
	}
}
