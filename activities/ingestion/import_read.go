package ingestion

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/extract"
	"github.com/cairn-rag/cairn/internal/extract/format"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/selection"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/sqltable"
	"github.com/cairn-rag/cairn/internal/store"
)

// read opens an object and, if it is a small text, reads it.
func (b *importBatch) read(ctx context.Context, it *importItem) error {
	it.stage = knowledge.StageFetch
	it.attributes = selection.Attributes{Name: selection.Name(it.object.Path())} // of an object that fails now
	described, err := b.readSidecar(ctx, it)
	if err != nil {
		return err
	}
	if err := b.describe(ctx, it, described); err != nil {
		return err
	}
	if it.object.Bytes > smallBytes {
		it.state = itemLarge
		return nil
	}
	return b.fetch(ctx, it)
}

// describe sets the attributes of an item, which its description says among others. Without the
// consents that the project requires it is CodeConsentMissing.
func (b *importBatch) describe(ctx context.Context, it *importItem, described *selection.Description) error {
	attributes := b.chosen.AttributesOf(it.object, described)
	if err := attributes.Check(); err != nil {
		return err
	}
	it.attributes = attributes
	if err := b.a.documents.Versions.CheckSubjects(ctx, b.Workspace, b.Project, attributes.Subjects); err != nil {
		return step.AtStage(knowledge.StageCheck, err)
	}
	return nil
}

// readSidecar returns the description beside an object, nil if there is none.
func (b *importBatch) readSidecar(ctx context.Context, it *importItem) (*selection.Description, error) {
	if it.sidecar == nil {
		return nil, nil
	}
	var o source.Object
	if err := json.Unmarshal(it.sidecar.Object, &o); err != nil {
		return nil, fmt.Errorf("read a description: %w", err)
	}
	r, _, err := b.source.Open(ctx, o, "")
	if knowledge.IsCode(err, knowledge.CodeNotFound) { // it was removed since the listing
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, selection.MaxDescription+1))
	if err == nil && len(data) > selection.MaxDescription {
		err = knowledge.TooLarge("description beside the object", selection.MaxDescription)
	}
	if err != nil {
		return nil, err
	}
	return selection.ParseDescription(data)
}

// fetch reads the bytes of an object that may be small, and finds out its kind.
func (b *importBatch) fetch(ctx context.Context, it *importItem) error {
	r, now, err := b.source.Open(ctx, it.object, validator(it.known))
	if errors.Is(err, source.ErrUnchanged) {
		it.state = itemSkipped
		return nil
	}
	if err != nil {
		return err
	}
	defer r.Close()
	if err := b.checkListed(it, now); err != nil {
		return err
	}
	it.read(now)
	if it.isKnown() {
		it.state = itemSkipped
		return nil
	}
	it.data, err = io.ReadAll(io.LimitReader(r, smallBytes+1))
	if err != nil {
		return err
	}
	if len(it.data) > smallBytes {
		it.state, it.data = itemLarge, nil
		return nil
	}
	it.object.Bytes = int64(len(it.data))
	sum := sha256.Sum256(it.data)
	if it.tagBytes(hex.EncodeToString(sum[:])); it.isKnown() {
		it.state, it.data = itemSkipped, nil
		return nil
	}
	it.stage = knowledge.StageCheck
	if err := b.checkKind(it, it.data); err != nil {
		return err
	}
	asksModel := b.Request.Enrichment.ReadsText() || b.Splitter.Strategy == knowledge.SplitSemantic
	hasTables := b.Request.Enrichment.Tables && sqltable.IsTable(it.mediaType)
	if asksModel || hasTables || b.Request.Enrichment.Steps != "" || b.Request.Enrichment.Privacy.Redacts() || b.Request.Enrichment.Privacy.AsksOthers() || !extract.IsText(it.mediaType) {
		it.state, it.data = itemLarge, nil
		return nil
	}
	v, err := b.version(ctx, it)
	if err != nil {
		return err
	}
	return b.a.documents.scanning.object(ctx, v, it.data, time.Since(b.CreatedAt))
}

// bytesTag separates the hash of the bytes from what the source states of them, in the
// etag of an object whose listing has none.
const bytesTag = "bytes:"

// tagBytes adds the hash of the bytes to the etag of an object whose listing has none:
// the answer of a web server may have no validator, or one that changes with each answer.
func (it *importItem) tagBytes(hash string) {
	if !it.listedTag {
		it.object.ETag = validator(it.object.ETag) + bytesTag + hash
	}
}

// isKnown reports whether the published version has the bytes of the object.
func (it *importItem) isKnown() bool {
	now, known := it.object.ETag, it.known
	return known != "" && (now == known || validator(now) != "" && validator(now) == validator(known) || hashOf(now) != "" && hashOf(now) == hashOf(known))
}

// validator returns the part of an etag that its source states, "" for none.
func validator(etag string) string { return strings.TrimSuffix(etag, bytesTag+hashOf(etag)) }

// hashOf returns the hash in an etag that tagBytes has made, "" for another.
func hashOf(etag string) string {
	i := strings.LastIndex(etag, bytesTag)
	if i < 0 || len(etag)-i != len(bytesTag)+hex.EncodedLen(sha256.Size) {
		return ""
	}
	return etag[i+len(bytesTag):]
}

// checkKind sets the media type of an object, whose bytes begin with head, and checks
// its size.
func (b *importBatch) checkKind(it *importItem, head []byte) (err error) {
	it.mediaType, err = extract.Sniff(it.attributes.Name, extract.Declared(it.object.MediaType), head)
	if err != nil {
		return err
	}
	limit := b.fileLimit()
	if extract.IsText(it.mediaType) {
		limit = min(limit, b.a.documents.Config.TextBytes)
	}
	if it.object.Bytes > limit {
		return tooLarge("file", limit)
	}
	return nil
}

// fileLimit returns the largest file of the project, in bytes.
func (b *importBatch) fileLimit() int64 {
	limit := b.a.documents.Config.FileBytes
	if own := b.Request.Limits.FileBytes; own > 0 {
		limit = min(limit, own)
	}
	return limit
}

// extract parses small texts in a child process. Its own error is the batch's;
// failed holds the errors of the texts. Only a few processes parse for imports at the same
// time, so that the texts of uploads find one.
func (b *importBatch) extract(ctx context.Context, items []*importItem) (layouts []knowledge.Layout, failed []error, err error) {
	layouts, failed = make([]knowledge.Layout, len(items)), make([]error, len(items))
	files := make([]extract.Input, len(items))
	for n, it := range items {
		files[n] = extract.Input{Name: it.attributes.Name, MediaType: it.mediaType, Data: it.data}
	}
	err = withSlot(ctx, b.a.limits().parses, func() error {
		return b.a.documents.SmallTexts.ExtractAll(ctx, files, func(n int, result format.Result, err error) {
			layouts[n], failed[n] = result.Layout, err
		})
	})
	return layouts, failed, err
}

// cut detects the language of a text and cuts it into chunks. The chunks have no ids
// before the version is claimed.
func (b *importBatch) cut(ctx context.Context, it *importItem, layout knowledge.Layout) (err error) {
	it.stage = knowledge.StageExtract
	v := store.Version{VersionRef: knowledge.VersionRef{Document: documentOf(b.Import, it.object)}, Name: it.attributes.Name, Splitter: b.Splitter, Enrichment: b.Request.Enrichment}
	if v.Enrichment.Privacy.Mode != "" {
		it.stage = knowledge.StageRedact
		if _, it.report, _, err = b.a.documents.cutting.examine(ctx, v, layout); err != nil {
			return err
		}
	}
	languages := languages(layout)
	it.facts = store.Facts{PageCount: len(layout.Pages), Language: languages.Document, Metadata: layout.Found(), Warnings: layout.Warnings}
	it.stage = knowledge.StageChunk
	it.chunks, err = b.a.documents.cutting.split(ctx, layout, v, languages)
	it.facts.ChunkCount = len(it.chunks)
	return err
}
