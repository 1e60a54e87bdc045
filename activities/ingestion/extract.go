package ingestion

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/parsed"
	"github.com/cairn-rag/cairn/internal/store"
)

// ExtractResult counts the pages and chunks of a version.
type ExtractResult struct {
	Pages  int `json:"pages,omitempty"`
	Chunks int `json:"chunks,omitempty"`
	// Enrich means that EnrichDocument must run before the chunks are embedded.
	Enrich bool `json:"enrich,omitempty"`
	// Pictures means that there are no chunks yet: ReadPictures must look at pictures of
	// these kinds before CutDocument.
	Pictures Pictures `json:"pictures,omitzero"`
	// Steps are the steps of the project that ran.
	Steps []knowledge.StepRun `json:"steps,omitempty"`
}

// quickExtract bounds the extraction and chunking of a small document in a local
// activity, because the task of the workflow waits for it.
const quickExtract = 2 * time.Second

// ExtractInput names the version to extract.
type ExtractInput struct {
	StepInput
	// Now sends a recording to the model although the provider asked for a pause.
	Now bool `json:"now,omitempty"`
}

// Extracting holds the activities that make chunks of an original.
type Extracting struct {
	steps

	Blobs    step.Blobs
	bounds   *bounds
	scanning *scanning
	reading  *reading
	cutting  *cutting
	speech   *speech
}

// ExtractDocument extracts the layout of the original in a child process, or has a model
// transcribe it, detects its language, and cuts it into chunks. It runs on a queue with a
// slot for each parser. It blocks until there is memory for a large original. If a model
// must look at pictures first, it only extracts: ReadPictures and CutDocument follow. Before all
// that the original is scanned for malware, if a scanner is configured.
func (a *Extracting) ExtractDocument(ctx context.Context, in ExtractInput) (ExtractResult, error) {
	return a.extractDocument(ctx, in, a.scanning.version, a.asked)
}

// CutDocument detects the language of a document and cuts it into chunks, with what a
// model saw in its pictures.
func (a *Extracting) CutDocument(ctx context.Context, in StepInput) (ExtractResult, error) {
	scan := func(context.Context, store.Version) error { return nil } // ExtractDocument did
	asked := func(context.Context, store.Version) (Pictures, int, error) { return Pictures{}, 0, nil }
	return a.extractDocument(ctx, ExtractInput{StepInput: in}, scan, asked)
}

func (a *Extracting) extractDocument(
	ctx context.Context, in ExtractInput, scan func(context.Context, store.Version) error, asked func(context.Context, store.Version) (Pictures, int, error),
) (ExtractResult, error) {
	defer step.Heartbeat(ctx)()
	var result ExtractResult
	err := a.step(ctx, in.StepInput, knowledge.StageExtract, func(v store.Version) error {
		if err := scan(ctx, v); err != nil {
			return step.AtStage(knowledge.StageCheck, err)
		}
		if err := a.speech.endPause(ctx, v, in.Now); err != nil {
			return err
		}
		release, err := a.reserve(ctx, v)
		if err != nil {
			return err
		}
		defer release()
		if result.Pictures, result.Pages, err = asked(ctx, v); err != nil || result.Pictures != (Pictures{}) {
			return err
		}
		cut, err := a.cutting.cut(ctx, v, func(stage knowledge.Stage, facts store.Facts) error {
			return noteStage(ctx, a.Versions, in.VersionRef, stage, 0, facts)
		})
		if err != nil {
			return err
		}
		result = newExtractResult(v, cut)
		facts := store.Facts{PageCount: cut.Pages, ChunkCount: cut.Count, Language: cut.Language, Metadata: cut.Metadata, Tags: cut.Tags, Warnings: cut.Warnings}
		return noteStage(ctx, a.Versions, in.VersionRef, knowledge.StageEmbed, 0, facts)
	})
	return result, err
}

func newExtractResult(v store.Version, c cut) ExtractResult {
	return ExtractResult{Pages: c.Pages, Chunks: c.Count, Enrich: v.Enrichment.ReadsText(), Steps: c.Steps}
}

// reserve blocks until there is memory to cut the original, or ctx ends.
func (a *Extracting) reserve(ctx context.Context, v store.Version) (release func(), err error) {
	bytes := v.Bytes
	if extract.IsSpeech(v.MediaType) {
		bytes = 0 // its transcript is small
	}
	if !extract.IsText(v.MediaType) {
		bytes /= 4 // pictures and fonts are not extracted
	}
	if bytes <= smallBytes {
		return func() {}, nil
	}
	return a.bounds.reserve(ctx, bytes)
}

// isLarge reports whether the steps of a version may take long: it is not a small
// text.
func isLarge(v store.Version) bool { return !extract.IsText(v.MediaType) || v.Bytes > smallBytes }

// reading reads originals.
type reading struct {
	Blobs       step.Blobs
	Versions    Versions
	Extractor   Extractor
	SmallTexts  TextExtractor
	Log         *slog.Logger
	files       *files
	attachments *attachments
	speech      *speech
}

// layout returns the stored layout of a version, or extracts and stores it. It does
// not store the layout of a small text, which takes less time to extract again.
func (a *reading) layout(ctx context.Context, v store.Version) (knowledge.Layout, error) {
	if !isLarge(v) {
		result, err := a.files.extract(ctx, a.SmallTexts, v, "", nil)
		return result.Layout, err
	}
	key := parsed.LayoutKey(v.VersionRef)
	var layout knowledge.Layout
	if err := a.Blobs.GetJSON(ctx, key, &layout); err == nil || !errors.Is(err, blob.ErrNotFound) {
		return layout, err
	}
	read := a.readFile
	if extract.IsSpeech(v.MediaType) {
		read = a.speech.readSpeech
	}
	layout, err := read(ctx, v)
	if err != nil {
		return layout, err
	}
	// The layout is written last: its presence completes the step.
	if _, err := a.Blobs.PutJSON(ctx, key, layout); err != nil {
		return layout, fmt.Errorf("store layout: %w", err)
	}
	return layout, nil
}

// readFile parses the original, stores its pictures, and makes documents of its
// attachments.
func (a *reading) readFile(ctx context.Context, v store.Version) (knowledge.Layout, error) {
	folder, remove, err := a.files.resultFolder()
	if err != nil {
		return knowledge.Layout{}, err
	}
	defer remove()
	pages, stop := a.followPages(ctx, v)
	result, err := a.files.extract(ctx, a.Extractor, v, folder, pages)
	stop()
	if err == nil {
		err = a.files.storeAssets(ctx, v.VersionRef, folder, result.Assets)
	}
	if err == nil {
		err = a.attachments.addChildren(ctx, v, folder, result.Children)
	}
	return result.Layout, err
}

// files passes files to the parsers, and stores those that parsers write.
type files struct {
	Blobs   step.Blobs
	Secrets Secrets
	TempDir string
}

// resultFolder returns a new folder for the files of a result. The caller calls remove.
func (a *files) resultFolder() (folder string, remove func(), err error) {
	folder, err = os.MkdirTemp(a.TempDir, "cairn-result-*")
	if err != nil {
		return "", nil, fmt.Errorf("make a folder for the result: %w", err)
	}
	return folder, func() { _ = os.RemoveAll(folder) }, nil // a leftover in the temporary folder harms nobody
}

// extract parses the original. The parser writes the files of the result to folder, and
// tells pages, which may be nil, how far it is.
func (a *files) extract(ctx context.Context, extractor Extractor, v store.Version, folder string, pages func(read, all int)) (format.Result, error) {
	options, err := a.options(v)
	if err != nil {
		return format.Result{}, err
	}
	path, remove, err := a.localCopy(ctx, v.SourceKey)
	if err != nil {
		return format.Result{}, err
	}
	defer remove()
	return extractor.Extract(ctx, extract.Input{Name: v.Name, MediaType: v.MediaType, Path: path, Folder: folder, Options: options, Pages: pages})
}

// asksForPictures reports whether a model looks at the figures or the pages of a version.
func asksForPictures(v store.Version) bool {
	return v.Enrichment.Pictures || v.Override.Parser == knowledge.ParserModel
}

// options returns the options with which the original is read.
func (a *files) options(v store.Version) (format.Options, error) {
	options := format.Options{Languages: v.Override.Languages, Describe: asksForPictures(v), Exact: v.Enrichment.Tables && !v.Enrichment.Privacy.Redacts()}
	if v.SealedPassword == "" {
		return options, nil
	}
	password, err := a.Secrets.Open(v.SealedPassword, v.Document)
	if err != nil {
		return options, knowledge.Errorf(knowledge.CodeEncrypted,
			"the password of this file cannot be read any more; upload the file again with override.password").WithCause(err)
	}
	options.Password = password
	return options, nil
}

// storeAssets stores the pictures of a result.
func (a *files) storeAssets(ctx context.Context, ref knowledge.VersionRef, folder string, assets []format.File) error {
	for _, asset := range assets {
		if _, err := a.storeFile(ctx, blob.AssetKey(ref, asset.Name), filepath.Join(folder, filepath.Base(asset.File))); err != nil {
			return fmt.Errorf("store picture %s: %w", asset.Name, err)
		}
	}
	return nil
}

// storeFile stores a file of a result and returns its size.
func (a *files) storeFile(ctx context.Context, key, path string) (bytes int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	ref, err := a.Blobs.PutReader(ctx, key, f)
	return ref.Bytes, err
}

// localCopy copies a blob to a temporary file, for the child process. The caller
// calls remove.
func (a *files) localCopy(ctx context.Context, key string) (path string, remove func(), err error) {
	r, _, err := a.Blobs.Open(ctx, key)
	if err != nil {
		return "", nil, fmt.Errorf("open original: %w", err)
	}
	defer r.Close()
	f, err := os.CreateTemp(a.TempDir, "cairn-original-*")
	if err != nil {
		return "", nil, fmt.Errorf("make a local copy: %w", err)
	}
	remove = func() { _ = os.Remove(f.Name()) } // a leftover in the temporary folder harms nobody
	_, err = io.Copy(f, r)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		remove()
		return "", nil, fmt.Errorf("make a local copy: %w", err)
	}
	return f.Name(), remove, nil
}
