package ingestion

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/privacy"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/safedial"
	"github.com/cairn-rag/cairn/internal/scrape"
	"github.com/cairn-rag/cairn/internal/store"
)

// BatchSize is how many chunks one embedding request holds at most, and
// BatchesPerStep how many such requests one step makes at most.
const (
	BatchSize      = 64
	BatchesPerStep = 8
)

// smallBytes is the largest size of a text document whose steps are local
// activities, because they end within milliseconds.
const smallBytes = 256 << 10

// Config bounds what ingestion accepts and the memory that it takes.
type Config struct {
	knowledge.InstanceLimits
	// Levels are the levels of classification. Defaults to those of knowledge.Levels.
	Levels knowledge.Levels
	// TempDir is the folder of the temporary copies of originals for the parsers. A
	// kill leaves copies there. Defaults to the system's folder.
	TempDir string
	// LargeBytes is how many bytes of originals are cut into chunks at the same time.
	// Cutting takes several times as much memory. Defaults to 32 MB.
	LargeBytes int64
}

// Dependencies are what the activities of documents use. New gives each part its own.
type Dependencies struct {
	Config    Config
	Blobs     step.Blobs
	Originals Originals
	Versions  Versions
	Removals  Removals
	Retention Retention
	Grants    GrantEnds
	Subjects  Subjects
	// SubjectWorkflows and Quotations are for the erasure of people.
	SubjectWorkflows SubjectWorkflows
	Quotations       Quotations
	Children         Children
	Reindexes        Reindexes
	Runs             step.RunEnds
	Index            Index
	Attributes       *Attributes
	Extractor        Extractor
	// SmallTexts extracts texts of up to smallBytes, so that they do not wait for
	// larger files.
	SmallTexts TextExtractor
	Embedder   Embedder
	// EmbedderOf returns the model of a generation of vectors. nil means that all of them
	// are Embedder's.
	EmbedderOf func(generation string) (Embedder, error)
	// Drawer draws pages and figures for a model that looks at them.
	Drawer Drawer
	// Chat describes documents, passages and pictures, where a project asks for that.
	Chat PacedChat
	// Failover are the chat models that are asked where Chat fails, in their order.
	Failover []PacedChat
	// Recognisers find personal data, beside what the package privacy finds by itself.
	Recognisers privacy.Recognisers
	// Transcriber hears recordings. nil means that no endpoint for that is configured.
	Transcriber Transcriber
	Workflows   Workflows
	Secrets     Secrets
	Dialer      *safedial.Dialer
	// Browser runs the scripts of pages that are ingested by their address. nil means that
	// none is configured.
	Browser scrape.Browser
	// Scanner looks for malware in originals before they are parsed. nil means that none is
	// configured.
	Scanner Scanner
	// Audit keeps what Scanner found.
	Audit Auditor
	// Steps runs the steps of projects.
	Steps step.StepRunner

	Hub     Hub
	Metrics Metrics
	Log     *slog.Logger
}

// StepInput names the version that a step works on.
type StepInput struct {
	knowledge.VersionRef
	Run string `json:"run"`
}

// endIdleRun ends the run of a version that no workflow will ingest: the version has
// ended, or a newer one was published before.
func (a *Ending) endIdleRun(ctx context.Context, in StepInput, v store.Version) error {
	run, err := a.Runs.RunForSystem(ctx, in.Workspace, in.Run)
	if err != nil {
		return a.fail(ctx, in, fmt.Errorf("read run: %w", err))
	}
	if run.Status != knowledge.RunRunning {
		return nil
	}
	end := record.VersionEnding(v)
	return a.FinishVersion(ctx, FinishInput{
		StepInput: in, Status: end.Status(), Error: end.Error, Items: end.Items(record.LastOffset(run, nil)),
	})
}

// stepLog logs the failures of steps.
type stepLog struct{ Log *slog.Logger }

// steps runs the stages of ingestion.
type steps struct {
	stepLog

	Versions Versions
	Metrics  Metrics
}

// step runs one stage of ingestion and measures it. Its error names the stage, or
// the stage that the error of work names.
func (a *steps) step(ctx context.Context, in StepInput, stage knowledge.Stage, work func(store.Version) error) error {
	start := time.Now()
	v, err := a.Versions.Version(ctx, in.VersionRef)
	if err != nil {
		return a.fail(ctx, in, fmt.Errorf("read version: %w", err))
	}
	if err := work(v); err != nil {
		return a.fail(ctx, in, step.AtStage(stage, err))
	}
	a.Metrics.IngestStage(string(stage), time.Since(start).Seconds())
	return nil
}

// noteStage stores the stage that a version enters, the completed share of the stage
// (0..1), and the facts of the version that are known by now.
func noteStage(ctx context.Context, versions Versions, ref knowledge.VersionRef, stage knowledge.Stage, part float64, facts store.Facts) error {
	if err := versions.SetStage(ctx, ref, stage, record.Progress(stage, part), facts); err != nil {
		return fmt.Errorf("note stage %s: %w", stage, err)
	}
	return nil
}

// WaitingInput reports that a step of a version waits for its next try, or that
// none does.
type WaitingInput struct {
	StepInput
	Waiting *knowledge.Waiting `json:"waiting,omitempty"`
}

// NoteWaiting stores the wait of a version, for readers. It is a local activity.
func (a *Ending) NoteWaiting(ctx context.Context, in WaitingInput) error {
	if err := a.Versions.SetWaiting(ctx, in.VersionRef, in.Waiting); err != nil {
		return a.fail(ctx, in.StepInput, fmt.Errorf("note that the version waits: %w", err))
	}
	return nil
}

func (a *stepLog) fail(ctx context.Context, in StepInput, err error) error {
	return step.Failure(ctx, step.Logger(a.Log, in.VersionRef, in.Run), err)
}
