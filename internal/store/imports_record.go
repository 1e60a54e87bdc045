package store

import (
	"context"
	"fmt"
	"math"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// ImportRecord is what became of some objects of a page.
type ImportRecord struct {
	Page      int
	Published []ImportedVersion
	Failed    []FailedObject
	Skipped   []string           // keys of objects that turned out to be unchanged when they were opened
	Usage     knowledge.RunUsage // for these objects; is added to the run's usage
}

// ImportedVersion is a claimed version that is to be published.
type ImportedVersion struct {
	Key         string
	Ref         knowledge.VersionRef
	Of          knowledge.Generations // in which its vectors are in the index
	ETag        string
	Fingerprint string
	Object      []byte // JSON of the object, for its source
	Bytes       int64
	Chunks      []knowledge.Chunk // nil = PutChunksPart has written them
	Reused      bool              // the claim is an earlier try's, which may have written chunks
}

// FailedObject is an object that was not imported.
type FailedObject struct {
	Key         string
	ETag        string
	Fingerprint string
	Object      []byte // JSON of the object, for its source
	Error       knowledge.DocumentError
	// Claim is the version that was claimed for the object, nil if none was: then
	// Version is inserted with the error.
	Claim   *knowledge.VersionRef
	Version NewVersion
}

// RecordImported publishes versions, stores failures, and counts both, in one
// transaction. An object that has an outcome already, or that belongs to another
// page by now, is left as it is: so a repetition changes nothing. It returns the
// versions that readers see because of it, and which of them replace another. It
// returns ErrGenerationsMoved, and stores nothing, if the project's generations have
// changed since one of the versions was written.
func (s *importStore) RecordImported(ctx context.Context, i Import, r ImportRecord) (replaced []knowledge.VersionRef, err error) {
	w := recording{Import: i, store: s, page: r.Page}
	for _, v := range r.Published {
		rows, err := newChunkRows(v.Ref, 0, v.Chunks)
		if err != nil {
			return nil, err
		}
		w.chunks = append(w.chunks, rows)
	}
	doing := fmt.Sprintf("record %d objects of import %s", len(r.Published)+len(r.Failed)+len(r.Skipped), i.Import)
	err = s.write(ctx, doing, func(ctx context.Context, tx transaction) error {
		w.counts, w.replaced = knowledge.ImportCounts{}, nil
		for n, v := range r.Published {
			if err := w.publish(ctx, tx, v, w.chunks[n]); err != nil {
				return err
			}
		}
		for _, f := range r.Failed {
			if err := w.fail(ctx, tx, f); err != nil {
				return err
			}
		}
		for _, key := range r.Skipped {
			if err := w.skip(ctx, tx, key); err != nil {
				return err
			}
		}
		if err := addCounts(ctx, tx, i.Number, w.counts, micros(s.now())); err != nil || r.Usage.Usage == (knowledge.Usage{}) {
			return err
		}
		return addUsage(ctx, tx, i, r.Usage)
	})
	return w.replaced, err
}

// addUsage adds to what the run of an import has used. The caller has changed the row of the
// import before, so no other transaction adds at the same time.
func addUsage(ctx context.Context, tx transaction, i Import, more knowledge.RunUsage) error {
	var row runRow
	there, err := runTable.first(ctx, tx, &row, "r.id = ? AND r.workspace = ?", i.RunID, i.Workspace)
	if err != nil || !there {
		return err
	}
	var sum knowledge.RunUsage
	if row.Usage != "" {
		if err := decode(field{row.Usage, &sum}); err != nil {
			return err
		}
	}
	sum.Add(more.Usage)
	sum.Model = more.Model
	_, err = tx.exec(ctx, "UPDATE runs SET usage = ? WHERE id = ? AND workspace = ?", string(sum.Encode()), i.RunID, i.Workspace)
	return err
}

// recording is the work of RecordImported.
type recording struct {
	Import
	store    *importStore
	page     int
	chunks   [][]chunkRow
	counts   knowledge.ImportCounts
	replaced []knowledge.VersionRef
}

// settle stores the outcome of an object. It reports whether the object had none.
func (w *recording) settle(ctx context.Context, tx transaction, key, outcome string) (bool, error) {
	return changed(tx.exec(ctx, `UPDATE import_objects SET outcome = ? WHERE source_id = ? AND key = ? AND import = ? AND page = ? AND outcome = 'pending'`,
		outcome, w.Source, key, w.Number, w.page))
}

func (w *recording) publish(ctx context.Context, tx transaction, v ImportedVersion, chunks []chunkRow) error {
	open, err := w.settle(ctx, tx, v.Key, outcomePublished)
	if err != nil {
		return err
	}
	if !open {
		return w.giveUp(ctx, tx, v)
	}
	var result Published
	switched, err := w.store.versions.publish(ctx, tx, v.Ref, v.Of, &result)
	if err != nil && !knowledge.IsCode(err, knowledge.CodeNotFound) {
		return err
	}
	if result.Moved {
		return ErrGenerationsMoved
	}
	if !result.Done {
		return w.overtaken(ctx, tx, v)
	}
	if switched && v.Chunks != nil {
		if err := w.putChunks(ctx, tx, v, chunks); err != nil {
			return err
		}
	}
	_, err = tx.exec(ctx, "UPDATE import_objects SET etag = ?, fingerprint = ?, version = ? WHERE source_id = ? AND key = ?", v.ETag, v.Fingerprint, v.Ref.Version, w.Source, v.Key)
	w.counts.Published++
	w.counts.Bytes += v.Bytes
	if v.Ref.Version > 1 {
		w.replaced = append(w.replaced, v.Ref)
	}
	return err
}

// putChunks writes the chunks of a version. Only a version that was claimed before
// can have some.
func (w *recording) putChunks(ctx context.Context, tx transaction, v ImportedVersion, rows []chunkRow) error {
	if v.Reused {
		return replaceChunks(ctx, tx, v.Ref, 0, math.MaxInt32, rows)
	}
	for i := range rows {
		if err := chunkTable.insert(ctx, tx, &rows[i]); err != nil {
			return err
		}
	}
	return nil
}

// giveUp ends a claim whose object got its outcome elsewhere, unless it is that
// outcome.
func (w *recording) giveUp(ctx context.Context, tx transaction, v ImportedVersion) error {
	_, err := tx.exec(ctx, "UPDATE document_versions SET status = 'inactive' WHERE document_id = ? AND version = ? AND status = 'pending'", v.Ref.Document, v.Ref.Version)
	return err
}

// overtaken stores the failure of an object whose document was removed, or got a
// newer version, while it was imported.
func (w *recording) overtaken(ctx context.Context, tx transaction, v ImportedVersion) error {
	if err := w.giveUp(ctx, tx, v); err != nil {
		return err
	}
	if _, err := tx.exec(ctx, "UPDATE import_objects SET outcome = 'failed' WHERE source_id = ? AND key = ?", w.Source, v.Key); err != nil {
		return err
	}
	return w.addFailure(ctx, tx, FailedObject{Key: v.Key, ETag: v.ETag, Fingerprint: v.Fingerprint, Object: v.Object, Claim: &v.Ref, Error: knowledge.DocumentError{
		Code: knowledge.CodeConflict, Stage: knowledge.StagePublish, Retryable: true,
		Message: "the document was removed, or got a newer version, while it was imported",
	}})
}

func (w *recording) fail(ctx context.Context, tx transaction, f FailedObject) error {
	open, err := w.settle(ctx, tx, f.Key, outcomeFailed)
	if err != nil {
		return err
	}
	switch {
	case f.Claim != nil:
		err = failClaim(ctx, tx, *f.Claim, f.Error)
	case open:
		f.Claim, err = w.insertFailed(ctx, tx, f)
	}
	if err != nil || !open {
		return err
	}
	return w.addFailure(ctx, tx, f)
}

// insertFailed inserts a version with the error. A document that is being removed
// gets none.
func (w *recording) insertFailed(ctx context.Context, tx transaction, f FailedObject) (*knowledge.VersionRef, error) {
	a := addition{NewVersion: f.Version}
	a.Now, a.Error = w.store.orNow(a.Now), &f.Error
	var err error
	if a.there, err = loadDocument(ctx, tx, a.DocumentID, &a.doc); err != nil {
		return nil, err
	}
	if a.there && a.doc.RemovingUpto > 0 {
		return nil, nil
	}
	if err = a.begin(ctx, tx); knowledge.IsCode(err, knowledge.CodeInvalid) {
		a.Tags, a.Metadata = nil, nil // with those that it has, they are too many
		err = a.begin(ctx, tx)
	}
	if err != nil {
		return nil, err
	}
	if err := a.insertVersion(ctx, tx); err != nil {
		return nil, err
	}
	ref := a.row.ref()
	return &ref, nil
}

func (w *recording) addFailure(ctx context.Context, tx transaction, f FailedObject) error {
	text, err := encodeError(&f.Error)
	if err != nil {
		return err
	}
	row := importFailureRow{
		Import: w.Number, Key: f.Key, DocumentID: f.Version.DocumentID, ETag: f.ETag, Fingerprint: f.Fingerprint,
		Object: string(f.Object), Error: text, CreatedAt: micros(w.store.now()),
	}
	if f.Claim != nil {
		row.DocumentID, row.Version = f.Claim.Document, f.Claim.Version
	}
	w.counts.Failed++
	if _, err := tx.exec(ctx, "DELETE FROM import_failures WHERE import = ? AND key = ?", row.Import, row.Key); err != nil {
		return err
	}
	return importFailureTable.insert(ctx, tx, &row)
}

func (w *recording) skip(ctx context.Context, tx transaction, key string) error {
	open, err := w.settle(ctx, tx, key, outcomeSkipped)
	if open {
		w.counts.Skipped++
	}
	return err
}
