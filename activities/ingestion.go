package activities

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/safedial"
	"github.com/cairn-rag/cairn/internal/store"
)

// BatchSize is how many chunks one embedding request holds at most, and
// BatchesPerStep how many such requests one step makes at most.
const (
	BatchSize      = 64
	BatchesPerStep = 8
)

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
	// LargeBytes is how many bytes of originals are cut into chunks at the same
	// time; what is cut takes several times as much memory. Defaults to 32 MB.
	LargeBytes int64
}

// Ingestion holds the activities of IngestDocument and RemoveDocument.
type Ingestion struct {
	Config     IngestionConfig
	Blobs      Blobs
	Versions   Versions
	Removals   Removals
	Runs       RunEnds
	Index      Index
	Attributes *Attributes
	Extractor  Extractor
	// SmallTexts extracts texts of up to 256 KB, which wait for no larger file.
	SmallTexts Extractor
	Embedder   Embedder
	Workflows  Workflows
	Dialer     *safedial.Dialer
	Hub        Hub
	Metrics    Metrics
	Log        *slog.Logger

	bounds bounds
}

// StepInput names the version that a step works on.
type StepInput struct {
	knowledge.VersionRef
	Run string `json:"run"`
}

// endIdleRun ends the run of a version that nobody will ingest: it has ended, or a
// newer one was published before its turn came.
func (a *Ingestion) endIdleRun(ctx context.Context, in StepInput, v store.Version) error {
	run, err := a.Runs.RunForSystem(ctx, in.Workspace, in.Run)
	if err != nil {
		return a.fail(ctx, in, fmt.Errorf("read run: %w", err))
	}
	if run.Status != knowledge.RunRunning {
		return nil
	}
	end := VersionEnding(v)
	return a.FinishVersion(ctx, FinishInput{
		StepInput: in, Status: end.Status(), Error: end.Error, Items: end.Items(LastOffset(run, nil)),
	})
}

// step runs one stage of ingestion and measures it. An error names the stage,
// or the one that work says it had reached.
func (a *Ingestion) step(ctx context.Context, in StepInput, stage knowledge.Stage, work func(store.Version) error) error {
	start := time.Now()
	v, err := a.Versions.Version(ctx, in.VersionRef)
	if err != nil {
		return a.fail(ctx, in, fmt.Errorf("read version: %w", err))
	}
	if err := work(v); err != nil {
		return a.fail(ctx, in, atStage(stage, err))
	}
	a.Metrics.IngestStage(string(stage), time.Since(start).Seconds())
	return nil
}

// stageError is an error of a stage of ingestion.
type stageError struct {
	stage knowledge.Stage
	err   error
}

func (e *stageError) Error() string { return string(e.stage) + ": " + e.err.Error() }

// Unwrap returns the error itself.
func (e *stageError) Unwrap() error { return e.err }

// atStage says at which stage an error came up, unless the error says so already.
func atStage(stage knowledge.Stage, err error) error {
	if _, said := errors.AsType[*stageError](err); said || err == nil {
		return err
	}
	return &stageError{stage, err}
}

// noteStage writes to SQL which stage a version enters, how much of it is done
// (0..1), and what is known of the version by now.
func (a *Ingestion) noteStage(ctx context.Context, ref knowledge.VersionRef, stage knowledge.Stage, part float64, facts store.Facts) error {
	if err := a.Versions.SetStage(ctx, ref, stage, Progress(stage, part), facts); err != nil {
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
