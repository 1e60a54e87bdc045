package ingestion

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
)

// PrepareInput begins the ingestion of a version. FirstOffset is the offset of the
// run's first event in the workflow's log.
type PrepareInput struct {
	StepInput
	FirstOffset int64 `json:"first_offset"`
	BeginOnly   bool  `json:"begin_only,omitempty"` // mark the version as begun, and read nothing of the document
}

// PrepareResult selects the next step of the version. If Ended, Removing, Blocked,
// Fetch and Chunked are false, it is ExtractDocument.
type PrepareResult struct {
	Ended    bool  `json:"ended,omitempty"`    // the run has ended
	Removing bool  `json:"removing,omitempty"` // the version is being removed
	Blocked  bool  `json:"blocked,omitempty"`  // an older removal runs: call again later
	Fetch    bool  `json:"fetch,omitempty"`    // the original must be downloaded first
	Bytes    int64 `json:"bytes,omitempty"`    // size of the original
	Small    bool  `json:"small,omitempty"`    // the other steps end within milliseconds
	Chunked  bool  `json:"chunked,omitempty"`  // the chunks are stored, and ExtractResult is set
	Semantic bool  `json:"semantic,omitempty"` // ExtractDocument asks the embedding model where to cut
	Speech   bool  `json:"speech,omitempty"`   // ExtractDocument asks a model what is said
	Custom   bool  `json:"custom,omitempty"`   // ExtractDocument runs steps of the project
	ExtractResult
}

// halts reports whether the run cannot ingest the version now.
func (r PrepareResult) halts() bool { return r.Ended || r.Removing || r.Blocked }

// Preparing holds the activity that begins the ingestion of a version.
type Preparing struct {
	steps

	Config  Config
	Blobs   step.Blobs
	Runs    step.RunEnds
	scans   bool // originals are scanned before they are parsed, which a local activity has no time for
	cutting *cutting
	ending  *Ending
}

// PrepareDocument marks a version as begun, detects the media type of its original
// and checks its size. It extracts and cuts a small text, unless that takes longer
// than quickExtract. It is a local activity.
func (a *Preparing) PrepareDocument(ctx context.Context, in PrepareInput) (PrepareResult, error) {
	start := time.Now()
	v, err := a.Versions.Version(ctx, in.VersionRef)
	if knowledge.IsCode(err, knowledge.CodeNotFound) {
		return a.removedVersion(ctx, in)
	}
	if err != nil {
		return PrepareResult{}, a.fail(ctx, in.StepInput, fmt.Errorf("read version: %w", err))
	}
	result, halt := obstacle(v, in.Run)
	if !halt && !in.BeginOnly && v.SourceURL != "" {
		stored, err := a.Blobs.Exists(ctx, v.SourceKey)
		if err != nil {
			return result, a.fail(ctx, in.StepInput, fmt.Errorf("look for the original: %w", err))
		}
		result.Fetch = !stored
	}
	if halt || in.BeginOnly || result.Fetch {
		return a.begin(ctx, in, result)
	}
	// The run is begun before it fails, so that readers find its end.
	next, facts, failed := a.prepare(ctx, v, &result)
	if failed != nil && next == "" { // at the check
		if began, err := a.begin(ctx, in, PrepareResult{}); err != nil || began.halts() {
			return began, err
		}
		return result, a.fail(ctx, in.StepInput, failed)
	}
	v, err = a.Versions.PrepareVersion(ctx, in.VersionRef, in.Run, in.FirstOffset, next, record.Progress(next, 0), facts)
	if err != nil {
		return result, a.fail(ctx, in.StepInput, fmt.Errorf("begin version: %w", err))
	}
	if now, halt := obstacle(v, in.Run); halt { // since the version was read
		return a.endIdle(ctx, in, v, now)
	}
	if failed != nil {
		return result, a.fail(ctx, in.StepInput, failed)
	}
	a.Metrics.IngestStage(string(knowledge.StageCheck), time.Since(start).Seconds())
	return result, nil
}

// begin marks a version as begun and returns result. If the version has ended, is
// being removed or has to wait, it returns that instead.
func (a *Preparing) begin(ctx context.Context, in PrepareInput, result PrepareResult) (PrepareResult, error) {
	v, err := a.Versions.BeginVersion(ctx, in.VersionRef, in.Run, in.FirstOffset)
	switch {
	case knowledge.IsCode(err, knowledge.CodeNotFound):
		return a.removedVersion(ctx, in)
	case err != nil:
		return PrepareResult{}, a.fail(ctx, in.StepInput, fmt.Errorf("begin version: %w", err))
	}
	if now, halt := obstacle(v, in.Run); halt {
		return a.endIdle(ctx, in, v, now)
	}
	return result, nil
}

// removedVersion returns the result for a version whose row was removed: Removing until its
// run has ended, and then Ended.
func (a *Preparing) removedVersion(ctx context.Context, in PrepareInput) (PrepareResult, error) {
	run, err := a.Runs.RunForSystem(ctx, in.Workspace, in.Run)
	switch {
	case knowledge.IsCode(err, knowledge.CodeNotFound), err == nil && run.Status != knowledge.RunRunning:
		return PrepareResult{Ended: true}, nil
	case err != nil:
		return PrepareResult{}, a.fail(ctx, in.StepInput, fmt.Errorf("read run: %w", err))
	}
	return PrepareResult{Removing: true}, nil
}

// endIdle returns result. Before that it ends the run of a version that has ended
// without it.
func (a *Preparing) endIdle(ctx context.Context, in PrepareInput, v store.Version, result PrepareResult) (PrepareResult, error) {
	if result.Ended && v.RunID == in.Run {
		return result, a.ending.endIdleRun(ctx, in.StepInput, v)
	}
	return result, nil
}

// obstacle reports whether a run cannot ingest a version now, and the reason.
func obstacle(v store.Version, run string) (result PrepareResult, halt bool) {
	result = PrepareResult{
		Ended:    v.RunID != run || !v.Removing && v.Status != knowledge.StatusPending,
		Removing: v.Removing,
		Blocked:  v.Blocked,
	}
	return result, result.halts()
}

// prepare checks an original, and extracts and cuts it if it is small. It returns
// the next stage and the facts of the version that are known by now. An original that
// passed the check and cannot be extracted has an error and a next stage.
func (a *Preparing) prepare(ctx context.Context, v store.Version, result *PrepareResult) (next knowledge.Stage, facts store.Facts, err error) {
	if err := a.check(ctx, &v, result); err != nil {
		return "", facts, step.AtStage(knowledge.StageCheck, err)
	}
	facts = store.Facts{MediaType: v.MediaType, Bytes: v.Bytes}
	result.Speech = extract.IsSpeech(v.MediaType)
	result.Semantic = v.Splitter.Strategy == knowledge.SplitSemantic
	result.Custom = v.Enrichment.Steps != ""
	if !result.Small || result.Semantic || result.Custom || a.scans || v.Enrichment.Privacy.AsksOthers() { // a local activity does not wait for a model or a scanner
		return knowledge.StageExtract, facts, nil
	}
	quick, cancel := context.WithTimeoutCause(ctx, quickExtract, step.ErrSlow)
	defer cancel()
	cut, err := a.cutting.cut(quick, v, func(knowledge.Stage, store.Facts) error { return nil })
	if err != nil && ctx.Err() == nil && (errors.Is(err, step.ErrSlow) || quick.Err() != nil) {
		return knowledge.StageExtract, facts, nil
	}
	if err != nil {
		return knowledge.StageExtract, facts, err
	}
	result.Chunked, result.ExtractResult = true, newExtractResult(v, cut)
	facts.PageCount, facts.ChunkCount, facts.Language, facts.Metadata, facts.Warnings = cut.Pages, cut.Count, cut.Language, cut.Metadata, cut.Warnings
	return knowledge.StageEmbed, facts, nil
}

// check detects the media type of the original by its content, its name and the
// declared type. It returns CodeTooLarge beyond the limits, and CodeConsentMissing without the
// consents that the project requires.
func (a *Preparing) check(ctx context.Context, v *store.Version, result *PrepareResult) error {
	if err := a.Versions.CheckConsents(ctx, v.VersionRef); err != nil {
		return err
	}
	head, size, err := a.head(ctx, v.SourceKey)
	if err != nil {
		return err
	}
	if v.MediaType, err = extract.Sniff(v.Name, v.MediaType, head); err != nil {
		return err
	}
	isText := extract.IsText(v.MediaType)
	if f, _ := extract.FormatOf(v.MediaType); v.Override.Parser == knowledge.ParserModel && !f.HasPages() {
		return extract.NoPages(f)
	}
	if v.Override.Parser == knowledge.ParserModel && v.Enrichment.Privacy.Providers {
		return knowledge.Errorf(knowledge.CodeConflict, "the pages of the document are not shown to a model, because they may show personal data (privacy.providers of its project is redact): send it without parser")
	}
	switch {
	case size > a.Config.FileBytes:
		return tooLarge("file", a.Config.FileBytes)
	case isText && size > a.Config.TextBytes:
		return tooLarge("text", a.Config.TextBytes)
	}
	if v.SourceURL != "" { // the intake has checked the others
		if err := a.Versions.TakeRoom(ctx, v.VersionRef, 0, size); err != nil {
			return err
		}
	}
	v.Bytes, result.Bytes = size, size
	result.Small = !isLarge(*v)
	return nil
}

func (a *Preparing) head(ctx context.Context, key string) ([]byte, int64, error) {
	r, size, err := a.Blobs.Open(ctx, key)
	if errors.Is(err, blob.ErrNotFound) {
		return nil, 0, knowledge.Errorf(knowledge.CodeCorrupt, "the uploaded bytes are not there; upload the document again").WithCause(err)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("open original: %w", err)
	}
	defer r.Close()
	head := make([]byte, extract.HeadBytes)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, 0, fmt.Errorf("read original: %w", err)
	}
	return head[:n], size, nil
}
