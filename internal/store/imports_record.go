package store

import (
	"context"
	"errors"
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
	SourceKey   string                // of the claim
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
	// Claim is what was claimed for the object, nil if nothing was: then Version is
	// inserted with the error.
	Claim   *ImportClaim
	Version NewVersion
}

// Recorded is what RecordImported leaves to clean up.
type Recorded struct {
	// Replaced are the published versions that replace another.
	Replaced []knowledge.VersionRef
	// GivenUp are the versions that will not be published. Readers never see the index
	// entries and the chunks that were written of them.
	GivenUp []knowledge.VersionRef
}

// RecordImported publishes versions, stores failures, and counts both, in one
// transaction. An object that has an outcome already, or that belongs to another
// page by now, is left as it is: so a repetition changes nothing. It
// returns ErrGenerationsMoved, and stores nothing, if the project's generations have
// changed since one of the versions was written, and ErrClaimLost if a claim of an object
// without an outcome does not hold any more.
func (s *importStore) RecordImported(ctx context.Context, i Import, r ImportRecord) (Recorded, error) {
	w := recording{Import: i, store: s, page: r.Page}
	for _, v := range r.Published {
		rows, err := newChunkRows(v.Ref, 0, v.Chunks)
		if err != nil {
			return Recorded{}, err
		}
		w.chunks = append(w.chunks, rows)
	}
	doing := fmt.Sprintf("record %d objects of import %s", len(r.Published)+len(r.Failed)+len(r.Skipped), i.Import)
	err := s.write(ctx, doing, func(ctx context.Context, tx transaction) error {
		w.counts, w.recorded, w.published = knowledge.ImportCounts{}, Recorded{}, nil
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
		if err := tx.auditOwn(ctx, i.change("import-documents", w.published)); err != nil {
			return err
		}
		if err := addCounts(ctx, tx, i.Number, w.counts, micros(s.now())); err != nil || r.Usage.Usage == (knowledge.Usage{}) {
			return err
		}
		return addUsage(ctx, tx, i, r.Usage)
	})
	if err != nil {
		return Recorded{}, err
	}
	return w.recorded, nil
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
	accounts, err := row.accountsOf()
	if err != nil {
		return err
	}
	if err := charge(ctx, tx, i.Workspace, dayOf(tx.now()), accounts, more.Usage, 0); err != nil {
		return err
	}
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
	recorded Recorded

	published []string // documents of which readers see a new version
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
	switched, err := w.store.versions.publish(ctx, tx, v.Ref, v.Of, claim{w.RunID, v.SourceKey}, &result)
	if missing, ok := errors.AsType[*knowledge.Error](err); ok && missing.Code == knowledge.CodeConsentMissing {
		missing.Retryable = true // the next try finds it before it reads the object
	}
	if err != nil && !knowledge.IsCode(err, knowledge.CodeNotFound) {
		return err
	}
	if result.Moved {
		return ErrGenerationsMoved
	}
	if !result.Done {
		return w.overtaken(ctx, tx, v)
	}
	if switched {
		w.published = append(w.published, v.Ref.Document)
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
		w.recorded.Replaced = append(w.recorded.Replaced, v.Ref)
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
// outcome. Of a claim that is lost it changes nothing: who has it now gives it up.
func (w *recording) giveUp(ctx context.Context, tx transaction, v ImportedVersion) error {
	ended, err := changed(tx.exec(ctx, "UPDATE document_versions SET status = 'inactive' WHERE document_id = ? AND version = ? AND status = 'pending' AND run_id = ? AND source_key = ?",
		v.Ref.Document, v.Ref.Version, w.RunID, v.SourceKey))
	if err != nil {
		return err
	}
	if ended {
		if err := showBefore(ctx, tx, v.Ref); err != nil {
			return err
		}
	}
	var status string
	there, err := first(ctx, tx, []any{&status}, "SELECT status FROM document_versions WHERE document_id = ? AND version = ?", v.Ref.Document, v.Ref.Version)
	if !there || status == string(knowledge.StatusInactive) {
		w.recorded.GivenUp = append(w.recorded.GivenUp, v.Ref)
	}
	return err
}

// showBefore lets a document whose newest version was given up show the state of the
// version before.
func showBefore(ctx context.Context, tx transaction, ref knowledge.VersionRef) error {
	_, err := tx.exec(ctx, `UPDATE documents AS d SET status = v.status, stage = v.stage, error = v.error, progress = CASE WHEN v.status = 'published' THEN 1 ELSE 0 END, updated_at = ?1
		FROM document_versions AS v
		WHERE d.id = ?2 AND d.version = ?3 AND d.removed = FALSE AND d.removing_upto = 0 AND v.document_id = d.id
			AND v.version = (SELECT max(o.version) FROM document_versions AS o WHERE o.document_id = d.id AND o.version < d.version AND o.status <> 'inactive')`,
		micros(tx.now()), ref.Document, ref.Version)
	return err
}

// overtaken stores the failure of an object whose document was removed, or got a
// newer version, while it was imported. A claim that is lost is ErrClaimLost.
func (w *recording) overtaken(ctx context.Context, tx transaction, v ImportedVersion) error {
	lost, err := claim{w.RunID, v.SourceKey}.isLost(ctx, tx, v.Ref)
	if err != nil {
		return err
	}
	if lost {
		return ErrClaimLost
	}
	if err := w.giveUp(ctx, tx, v); err != nil {
		return err
	}
	if _, err := tx.exec(ctx, "UPDATE import_objects SET outcome = 'failed' WHERE source_id = ? AND key = ?", w.Source, v.Key); err != nil {
		return err
	}
	return w.addFailure(ctx, tx, &v.Ref, FailedObject{Key: v.Key, ETag: v.ETag, Fingerprint: v.Fingerprint, Object: v.Object, Error: knowledge.DocumentError{
		Code: knowledge.CodeConflict, Stage: knowledge.StagePublish, Retryable: true,
		Message: "the document was removed, or got a newer version, while it was imported",
	}})
}

func (w *recording) fail(ctx context.Context, tx transaction, f FailedObject) error {
	open, err := w.settle(ctx, tx, f.Key, outcomeFailed)
	if err != nil {
		return err
	}
	var ref *knowledge.VersionRef
	switch {
	case f.Claim != nil:
		ref, err = &f.Claim.Version.VersionRef, w.failClaimed(ctx, tx, f, open)
	case open:
		ref, err = w.insertFailed(ctx, tx, f)
	}
	if err != nil || !open {
		return err
	}
	return w.addFailure(ctx, tx, ref, f)
}

// failClaimed ends what was claimed for an object with its error. A claim that is lost is
// ErrClaimLost, if the object is open.
func (w *recording) failClaimed(ctx context.Context, tx transaction, f FailedObject, open bool) error {
	ref, by := f.Claim.Version.VersionRef, claim{w.RunID, f.Claim.Version.SourceKey}
	if open {
		lost, err := by.isLost(ctx, tx, ref)
		if err != nil {
			return err
		}
		if lost {
			return ErrClaimLost
		}
	}
	return failClaim(ctx, tx, ref, by, f.Error)
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

// addFailure stores the failure of an object, and of its version if there is one.
func (w *recording) addFailure(ctx context.Context, tx transaction, ref *knowledge.VersionRef, f FailedObject) error {
	text, err := encodeError(&f.Error)
	if err != nil {
		return err
	}
	row := importFailureRow{
		Import: w.Number, Key: f.Key, DocumentID: f.Version.DocumentID, ETag: f.ETag, Fingerprint: f.Fingerprint,
		Object: string(f.Object), Error: text, CreatedAt: micros(w.store.now()),
	}
	if ref != nil {
		row.DocumentID, row.Version = ref.Document, ref.Version
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
