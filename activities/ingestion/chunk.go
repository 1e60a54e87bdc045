package ingestion

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/chunk"
	"github.com/cairn-rag/cairn/internal/enrich"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/parsed"
	"github.com/cairn-rag/cairn/internal/privacy"
	"github.com/cairn-rag/cairn/internal/store"
)

// cutBlob is the blob that describes the chunks of a version. It is written after
// the parts.
const cutBlob = "cut.json"

// cut is the result of chunking a document. The chunks of a long document are stored
// in parts, so that no step has all of them in memory.
type cut struct {
	Count    int                 `json:"count"`
	Pages    int                 `json:"pages"`
	Language string              `json:"language"`
	Metadata map[string]any      `json:"metadata,omitempty"` // what the file says of itself
	Warnings []knowledge.Warning `json:"warnings,omitempty"`
	Chunks   []knowledge.Chunk   `json:"chunks,omitempty"` // all chunks, if there are at most partChunks
	Tags     []string            `json:"tags,omitempty"`   // that steps of the project gave
	Steps    []knowledge.StepRun `json:"steps,omitempty"`  // of the project, that ran

	leftOut []string // steps that failed, with their causes
}

// partChunks is how many chunks a part of a long document has, a multiple of
// BatchSize.
const partChunks = 8 * BatchSize

// LongDocument is the largest number of chunks that a document may have to be
// written at once. A longer one is written part by part.
const LongDocument = partChunks

// cutting cuts the texts of documents into chunks.
type cutting struct {
	Blobs       step.Blobs
	Versions    Versions
	Embedder    Embedder
	SmallTexts  TextExtractor
	TempDir     string
	cuts        *cuts
	reading     *reading
	generations *generations
	batches     *batches
	answers     *answers
	custom      *customSteps
	chats       *chats

	Recognisers privacy.Recognisers
}

// cut returns the stored cut of a version. If there is none, it extracts, enriches
// and cuts the original and stores the result. It calls enter when a stage begins,
// with the facts of the version that are known by then.
func (a *cutting) cut(ctx context.Context, v store.Version, enter func(knowledge.Stage, store.Facts) error) (cut, error) {
	key := blob.StepKey(v.VersionRef, cutBlob)
	var done cut
	err := a.Blobs.GetJSON(ctx, key, &done)
	if err == nil || !errors.Is(err, blob.ErrNotFound) {
		return done, err
	}
	layout, err := a.layoutAsSeen(ctx, v)
	if err != nil {
		return done, step.AtStage(knowledge.StageExtract, err)
	}
	if v.Enrichment.Privacy.Mode != "" {
		if err := enter(knowledge.StageRedact, store.Facts{}); err != nil {
			return done, err
		}
		if layout, err = a.protect(ctx, v, layout); err != nil {
			return done, step.AtStage(knowledge.StageRedact, err)
		}
	}
	steps, err := a.custom.stepsOf(ctx, v)
	if err != nil {
		return done, step.AtStage(knowledge.StageExtract, err)
	}
	done.Metadata = layout.Found()
	if layout, err = a.afterExtraction(ctx, v, steps, layout, &done); err != nil {
		return done, step.AtStage(knowledge.StageExtract, err)
	}
	done.Pages, done.Warnings = len(layout.Pages), layout.Warnings
	if done.Pages > 0 {
		if err := a.Versions.TakeRoom(ctx, v.VersionRef, done.Pages, 0); err != nil {
			return done, step.AtStage(knowledge.StageExtract, err)
		}
	}
	if err := enter(knowledge.StageEnrich, store.Facts{PageCount: done.Pages, Metadata: done.Metadata, Warnings: done.Warnings}); err != nil {
		return done, err
	}
	languages := languages(layout)
	done.Language = languages.Document
	if err := enter(knowledge.StageChunk, store.Facts{Language: done.Language}); err != nil {
		return done, err
	}
	chunks, err := a.split(ctx, layout, v, languages)
	if err != nil {
		return done, step.AtStage(knowledge.StageChunk, err)
	}
	if chunks, err = a.beforeEmbedding(ctx, v, steps, chunks, &done); err != nil {
		return done, step.AtStage(knowledge.StageChunk, err)
	}
	done.warnOfSteps()
	if err := a.makeTables(ctx, v, layout, chunks); err != nil {
		return done, step.AtStage(knowledge.StageChunk, err)
	}
	done.Count = len(chunks)
	if done.Count <= partChunks {
		done.Chunks = chunks
	} else if err := a.cuts.storeParts(ctx, v.VersionRef, chunks); err != nil {
		return done, step.AtStage(knowledge.StageChunk, err)
	}
	if _, err := a.Blobs.PutJSON(ctx, key, done); err != nil {
		return done, step.AtStage(knowledge.StageChunk, fmt.Errorf("store chunks: %w", err))
	}
	if steps != nil { // their answers are not needed any more
		if _, err := a.Blobs.DeletePrefix(ctx, blob.StepKey(v.VersionRef, stepFolder), nil); err != nil {
			return done, step.AtStage(knowledge.StageChunk, fmt.Errorf("delete the answers of steps: %w", err))
		}
	}
	if v.Splitter.Strategy == knowledge.SplitSemantic {
		return done, step.AtStage(knowledge.StageChunk, a.dropSentences(ctx, v.VersionRef))
	}
	return done, nil
}

// layoutAsSeen returns the layout of a version with what a model saw in its pictures, and
// stores it if a model was asked.
func (a *cutting) layoutAsSeen(ctx context.Context, v store.Version) (knowledge.Layout, error) {
	layout, err := a.reading.layout(ctx, v)
	if err == nil && v.Override.Parser == knowledge.ParserModel {
		layout, err = a.transcribePages(ctx, v, layout)
	}
	if err == nil && v.Enrichment.Pictures {
		layout, err = a.describeFigures(ctx, v, layout)
	}
	if err == nil && asksForPictures(v) && !v.Enrichment.Privacy.Redacts() {
		if _, err = a.Blobs.PutJSON(ctx, parsed.SeenKey(v.VersionRef), layout); err != nil {
			return layout, fmt.Errorf("store what a model saw: %w", err)
		}
	}
	return layout, err
}

// languages returns the languages of a document as ISO 639-3 codes, "und" for source
// code.
func languages(layout knowledge.Layout) enrich.Languages {
	if strings.HasPrefix(layout.MediaType, "text/x-") {
		return enrich.Languages{Document: enrich.Undetermined}
	}
	return enrich.NewLanguages(chunk.Text(layout))
}

func (a *cutting) split(ctx context.Context, layout knowledge.Layout, v store.Version, languages enrich.Languages) ([]knowledge.Chunk, error) {
	if ctx.Err() != nil { // extraction may have used up the time, and chunking does not check ctx
		return nil, ctx.Err()
	}
	chunks, err := chunk.Split(ctx, chunk.Input{
		Layout: layout, Name: v.Name, Splitter: v.Splitter, Ref: v.VersionRef, MaxTokens: a.Embedder.Endpoint().MaxTokens,
		Embed: func(ctx context.Context, texts []string) ([][]float32, error) {
			return a.sentenceVectors(ctx, v, texts)
		},
	})
	if err != nil {
		return nil, err
	}
	if len(chunks) == 0 {
		return nil, a.noText(v, layout)
	}
	for i := range chunks {
		chunks[i].Language = languages.Of(chunks[i].Text)
	}
	return chunks, nil
}

// noText returns the error of a document that has no text.
func (a *cutting) noText(v store.Version, layout knowledge.Layout) error {
	switch {
	case layout.Metadata[notDescribed] != "":
		return a.chats.cannotSee(v)
	case v.Enrichment.Pictures && layout.Metadata["pages_not_read"] != "":
		return knowledge.Errorf(knowledge.CodeNeedsComponent,
			"the pages are pictures, and no text was recognised in them: apt-get install tesseract-ocr on the server, restart and retry the document, or send it with parser: model")
	default:
		return knowledge.Errorf(knowledge.CodeEmpty, "there is no text in the document")
	}
}

func partKey(ref knowledge.VersionRef, part int) string {
	return blob.StepKey(ref, fmt.Sprintf("chunks/%07d.json", part*partChunks))
}

// cuts stores the chunks of versions that are not published.
type cuts struct{ Blobs step.Blobs }

func (a *cuts) storeParts(ctx context.Context, ref knowledge.VersionRef, chunks []knowledge.Chunk) error {
	for part := 0; part*partChunks < len(chunks); part++ {
		first := part * partChunks
		if _, err := a.Blobs.PutJSON(ctx, partKey(ref, part), chunks[first:min(first+partChunks, len(chunks))]); err != nil {
			return fmt.Errorf("store chunks from %d: %w", first, err)
		}
	}
	return nil
}

// chunks returns the chunks [first, last) of a version that has count chunks. It
// reads only the parts that hold them.
func (a *cuts) chunks(ctx context.Context, ref knowledge.VersionRef, first, last, count int) ([]knowledge.Chunk, error) {
	if last > count {
		return nil, fmt.Errorf("chunks %d-%d beyond the %d of the version", first, last, count)
	}
	if count <= partChunks {
		var all cut
		if err := a.Blobs.GetJSON(ctx, blob.StepKey(ref, cutBlob), &all); err != nil {
			return nil, fmt.Errorf("read chunks: %w", err)
		}
		if last > len(all.Chunks) {
			return nil, fmt.Errorf("chunks %d-%d beyond the %d that are stored", first, last, len(all.Chunks))
		}
		return all.Chunks[first:last], nil
	}
	var found []knowledge.Chunk
	for part := first / partChunks; part*partChunks < last; part++ {
		var chunks []knowledge.Chunk
		if err := a.Blobs.GetJSON(ctx, partKey(ref, part), &chunks); err != nil {
			return nil, fmt.Errorf("read chunks from %d: %w", part*partChunks, err)
		}
		start := part * partChunks
		if end := min(last, start+partChunks); end-start > len(chunks) {
			return nil, fmt.Errorf("chunks %d-%d beyond the %d from %d", first, last, len(chunks), start)
		}
		found = append(found, chunks[max(first-start, 0):min(last-start, len(chunks))]...)
	}
	return found, nil
}
