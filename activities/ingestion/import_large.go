package ingestion

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/store"
)

// LargeInput names objects that take long, by their places in the page.
type LargeInput struct {
	knowledge.ImportRef
	Run     string `json:"run"`
	Page    int    `json:"page"`
	Objects []int  `json:"objects"`
	StepTurn
}

// ImportLarge imports objects that take long, one after the other. Each is parsed and
// stored as an upload is, but has no run. A repetition imports only what has no outcome,
// and resumes at the step at which the earlier one ended.
func (a *Importing) ImportLarge(ctx context.Context, in LargeInput) error {
	defer step.Heartbeat(ctx)()
	b, err := a.openBatch(ctx, in.ImportRef, in.Run, in.Page)
	if err != nil {
		return a.fail(ctx, in.ImportRef, err)
	}
	defer b.release()
	b.turn = in.StepTurn
	if err = b.runLarge(ctx, in.Objects); err == nil {
		err = a.endWait(ctx, b, largeStep(in.Objects))
	}
	if err != nil {
		return a.failStep(ctx, b, largeStep(in.Objects), err)
	}
	return nil
}

func (b *importBatch) runLarge(ctx context.Context, places []int) error {
	items, err := b.pending(ctx, places)
	if err == nil {
		items, err = b.follow(ctx, items)
	}
	if err != nil {
		return err
	}
	var waits error
	for n, it := range items {
		b.waiting = len(items) - n
		var claim *store.ImportClaim
		err := b.large(ctx, it, &claim)
		if errors.Is(err, errClaimRemoved) {
			err = knowledge.Errorf(knowledge.CodeCanceled, "the document was removed while it was imported")
		}
		if refused, ok := errors.AsType[*model.Error](err); ok && !refused.Retryable {
			public := refused.Public()
			it.stage, err = knowledge.StageEmbed, knowledge.Errorf(knowledge.CodeProviderFailed, "%s", public.Message)
		}
		if err := b.settle(ctx, it, err); err != nil {
			return err
		}
		switch it.state {
		case itemWaits:
			waits = it.err
		case itemFailed, itemSkipped:
			record := store.ImportRecord{Page: b.page}
			if it.state == itemSkipped {
				record.Skipped = []string{it.object.Key}
			} else {
				failed, err := b.failedObject(ctx, it)
				if err != nil {
					return err
				}
				failed.Claim = claim
				record.Failed = []store.FailedObject{failed}
			}
			if _, err := b.record(ctx, record); err != nil {
				return err
			}
		}
	}
	return waits
}

// errClaimRemoved ends the import of an object whose document is being removed.
var errClaimRemoved = errors.New("the document is being removed")

// large imports one object. claim is set when a version is claimed for it.
func (b *importBatch) large(ctx context.Context, it *importItem, claim **store.ImportClaim) error {
	nv, err := b.fetchLarge(ctx, it)
	if err != nil || it.state == itemSkipped {
		return err
	}
	it.stage = knowledge.StageExtract
	claims, err := b.a.Imports.ClaimVersions(ctx, []store.NewVersion{nv}, b.Request.Limits)
	if err != nil {
		return err
	}
	c := claims[0]
	if c.Refused != nil {
		return c.Refused
	}
	*claim = &c
	if err := b.resumeOrClear(ctx, it, c); err != nil {
		return err
	}
	ctx, stop := b.a.untilRemoved(ctx, c.Version.VersionRef)
	defer stop()
	recorded, err := b.importLarge(ctx, it, c)
	if cause := context.Cause(ctx); errors.Is(cause, errClaimRemoved) {
		return cause
	}
	if err != nil {
		return err
	}
	if err := b.cleanUp(ctx, recorded); err != nil {
		return err
	}
	if err := b.a.documents.Attributes.UpdateIndex(context.WithoutCancel(ctx), c.Version.Document); err != nil {
		return fmt.Errorf("update index attributes: %w", err)
	}
	return nil
}

// importLarge parses the original of a claimed version, embeds its chunks and publishes
// it. It returns what is to be cleaned up.
func (b *importBatch) importLarge(ctx context.Context, it *importItem, c store.ImportClaim) (recorded store.Recorded, err error) {
	a, v := b.a.documents, c.Version
	if err := b.lookLarge(ctx, v); err != nil {
		return recorded, step.AtStage(knowledge.StageExtract, err)
	}
	release, err := a.extracting.reserve(ctx, v)
	if err != nil {
		return recorded, err
	}
	var done cut
	err = withSlot(ctx, b.a.limits().large, func() error {
		done, err = a.cutting.cut(ctx, v, func(knowledge.Stage, store.Facts) error { return nil })
		return err
	})
	release()
	if err != nil {
		return recorded, err
	}
	facts := store.Facts{PageCount: done.Pages, ChunkCount: done.Count, Language: done.Language, Metadata: done.Metadata, Tags: done.Tags, Warnings: done.Warnings}
	if err := noteStage(ctx, a.Versions, v.VersionRef, knowledge.StageEmbed, 0, facts); err != nil {
		return recorded, err
	}
	if err := b.enrichLarge(ctx, v, done.Count); err != nil {
		return recorded, step.AtStage(knowledge.StageEnrich, err)
	}
	if v, err = a.Versions.Version(ctx, v.VersionRef); err != nil { // with what was found out
		return recorded, fmt.Errorf("read version: %w", err)
	}
	it.stage = knowledge.StageEmbed
	if err := b.embedLarge(ctx, v, done.Count); err != nil {
		return recorded, err
	}
	it.stage = knowledge.StagePublish
	p, err := a.publishing.write(ctx, PublishInput{StepInput: StepInput{VersionRef: v.VersionRef, Run: b.runID}, Count: done.Count}, v)
	if err != nil {
		return recorded, err
	}
	// If the process dies now, the next try reads the object again.
	if err := a.publishing.hideOriginal(ctx, v); err != nil {
		return recorded, err
	}
	b.spent.Add(p.Used.Usage)
	return b.record(ctx, store.ImportRecord{Page: b.page, Published: []store.ImportedVersion{{
		Key: it.object.Key, Ref: v.VersionRef, SourceKey: c.Version.SourceKey, Of: p.Of, ETag: it.object.ETag, Fingerprint: it.fingerprint, Object: it.encoded(), Bytes: v.Bytes, Chunks: p.Chunks, Reused: c.Reused,
	}}})
}

// lookLarge has a model look at the pictures of a version, if the project asks.
func (b *importBatch) lookLarge(ctx context.Context, v store.Version) error {
	a := b.a.documents
	release, err := a.extracting.reserve(ctx, v)
	if err != nil {
		return err
	}
	var pictures Pictures
	err = withSlot(ctx, b.a.limits().large, func() (err error) {
		pictures, _, err = a.extracting.asked(ctx, v)
		return err
	})
	release()
	for _, kind := range pictures.Kinds() {
		for first, more := 0, true; more && err == nil; first += PicturesStep {
			_, more, err = a.pictures.readPictures(ctx, v, ReadPicturesInput{Kind: kind, First: first})
		}
	}
	return err
}

// enrichLarge has a model describe the document and its chunks, if the project asks.
func (b *importBatch) enrichLarge(ctx context.Context, v store.Version, count int) error {
	if !v.Enrichment.ReadsText() {
		return nil
	}
	for first := 0; ; first += EnrichStep {
		in := EnrichInput{StepInput: StepInput{VersionRef: v.VersionRef, Run: b.runID}, First: first, Last: min(first+EnrichStep, count), Count: count}
		more, err := b.a.documents.enriching.enrichPart(ctx, v, in)
		if err != nil || !more {
			return err
		}
	}
}

// embedLarge embeds the chunks of a version, part by part.
func (b *importBatch) embedLarge(ctx context.Context, v store.Version, count int) error {
	const size = BatchSize * BatchesPerStep
	_, generations, err := b.a.documents.generations.of(ctx, v.Workspace, v.Project)
	if err != nil {
		return err
	}
	for first := 0; first < count; first += size {
		chunks, err := b.a.documents.cuts.chunks(ctx, v.VersionRef, first, min(first+size, count), count)
		if err != nil {
			return err
		}
		for _, g := range generations {
			if _, err := b.a.documents.batches.embedPart(ctx, g, v, first, chunks, b.turn.turn()); err != nil {
				return err
			}
		}
	}
	return nil
}

// resumed is the blob under a claimed version that names what it is made of.
type resumed struct {
	ETag        string `json:"etag"`
	Fingerprint string `json:"fingerprint"`
}

const resumedBlob = "import.json"

// resumeOrClear deletes what an earlier try left under a claimed version, unless it was
// made of the same bytes.
func (b *importBatch) resumeOrClear(ctx context.Context, it *importItem, c store.ImportClaim) error {
	blobs, key := b.a.documents.Blobs, blob.StepKey(c.Version.VersionRef, resumedBlob)
	now := resumed{it.object.ETag, it.fingerprint}
	if c.Reused {
		var before resumed
		err := blobs.GetJSON(ctx, key, &before)
		if err != nil && !errors.Is(err, blob.ErrNotFound) {
			return fmt.Errorf("read what an earlier try left: %w", err)
		}
		if err == nil && before == now && now.ETag != "" {
			return nil
		}
		if err := b.checkClaim(ctx, c.Version); err != nil {
			return err
		}
		if _, err := blobs.DeletePrefix(ctx, blob.VersionPrefix(c.Version.VersionRef), nil); err != nil {
			return fmt.Errorf("delete what an earlier try left: %w", err)
		}
		if err := b.a.documents.Index.RemoveVersion(ctx, b.Workspace, c.Version.Document, c.Version.Version); err != nil {
			return fmt.Errorf("remove index entries: %w", err)
		}
	}
	if _, err := blobs.PutJSON(ctx, key, now); err != nil {
		return fmt.Errorf("note what the version is made of: %w", err)
	}
	return nil
}

// fetchLarge stores the bytes of an object, and returns the version that it becomes.
func (b *importBatch) fetchLarge(ctx context.Context, it *importItem) (nv store.NewVersion, err error) {
	it.stage = knowledge.StageFetch
	it.attributes.Name = b.chosen.AttributesOf(it.object, nil).Name // of an object that fails now
	described, err := b.readSidecar(ctx, it)
	if err != nil {
		return nv, err
	}
	if err := b.describe(ctx, it, described); err != nil {
		return nv, err
	}
	r, now, err := b.source.Open(ctx, it.object, validator(it.known))
	if errors.Is(err, source.ErrUnchanged) {
		it.state = itemSkipped
		return nv, nil
	}
	if err != nil {
		return nv, err
	}
	defer r.Close()
	if err := b.checkListed(it, now); err != nil {
		return nv, err
	}
	it.read(now)
	head := make([]byte, extract.HeadBytes)
	n, err := io.ReadFull(r, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nv, err
	}
	if err := b.checkKind(it, head[:n]); err != nil {
		it.stage = knowledge.StageCheck
		return nv, err
	}
	return b.storeLarge(ctx, it, io.MultiReader(bytes.NewReader(head[:n]), r))
}

// storeLarge stores the bytes of an object of a known kind, and returns the version
// that it becomes.
func (b *importBatch) storeLarge(ctx context.Context, it *importItem, r io.Reader) (store.NewVersion, error) {
	limit := b.fileLimit()
	if extract.IsText(it.mediaType) {
		limit = min(limit, b.a.documents.Config.TextBytes)
	}
	nv, err := b.version(ctx, it)
	if err != nil {
		return nv, err
	}
	room, err := b.a.documents.Versions.RoomForSystem(ctx, nv.Workspace, nv.Project, nv.DocumentID)
	if err == nil {
		err = room.CheckBytes(it.object.Bytes)
	}
	if err != nil {
		return nv, err
	}
	nv.SourceKey = blob.UploadKey(nv.Workspace, nv.Project, nv.DocumentID, knowledge.NewID())
	body := &limited{r: r, left: limit, limit: limit}
	ref, err := b.a.documents.Blobs.PutReader(ctx, nv.SourceKey, body)
	switch {
	case body.err != nil:
		return nv, body.err
	case err != nil:
		return nv, fmt.Errorf("store the original: %w", err)
	}
	nv.Bytes, it.object.Bytes = ref.Bytes, ref.Bytes
	if it.tagBytes(ref.SHA256); it.isKnown() {
		it.state = itemSkipped
		return nv, b.a.documents.Blobs.Delete(ctx, nv.SourceKey)
	}
	if err := b.storeTranscript(ctx, it, nv.SourceKey); err != nil {
		return nv, err
	}
	if err := b.a.documents.scanning.large(ctx, nv, time.Since(b.CreatedAt)); err != nil {
		it.stage = knowledge.StageCheck
		return nv, err
	}
	return nv, room.CheckBytes(ref.Bytes)
}

// removalCheck is how often the import of a large object looks for the removal of its
// document.
const removalCheck = time.Second

// untilRemoved returns a context that ends with the cause errClaimRemoved when the
// document of a claimed version is being removed: the removal waits for the claim.
func (a *Importing) untilRemoved(ctx context.Context, ref knowledge.VersionRef) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	go func() {
		ticker := time.NewTicker(removalCheck)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			if removing(ctx, a.documents.Versions, ref) && ctx.Err() == nil {
				cancel(errClaimRemoved)
			}
		}
	}()
	return ctx, func() { cancel(nil) }
}
