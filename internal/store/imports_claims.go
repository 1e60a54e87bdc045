package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// ErrClaimLost is the error of RecordImported for a version that another try of the import
// has claimed since, or that a retry ingests by now: what was written under the claim may
// have been removed. Repeating the import claims the version again, if it is still to be
// imported.
var ErrClaimLost = errors.New("the version was claimed again while it was imported")

// ImportClaim is the result of claiming a version for an object.
type ImportClaim struct {
	Version Version
	// Reused reports that an earlier try had claimed the version, and may have
	// written index entries of it.
	Reused bool
	// Refused is why the object cannot become a version now, nil if it can.
	Refused *knowledge.Error
}

// ClaimVersions inserts the next versions of documents, in one transaction, for an
// import to publish: they are pending, and no workflow ingests them. The RunID of
// all versions is the import's. A version that the same run has claimed before and
// not published is claimed again, with the new attributes: the earlier claim is lost, and
// RecordImported does not publish what was written under it. So each call names originals
// of its own.
//
// A document that is being removed, one for which the limits leave no room, and one
// that would have too many tags, are refused; the others are claimed.
func (s *importStore) ClaimVersions(ctx context.Context, list []NewVersion, limits knowledge.LimitsConfig) ([]ImportClaim, error) {
	if len(list) == 0 {
		return nil, nil
	}
	claims := make([]ImportClaim, len(list))
	err := s.write(ctx, fmt.Sprintf("claim %d versions", len(list)), func(ctx context.Context, tx transaction) error {
		left, err := roomFor(ctx, tx, list[0], limits)
		if err == nil {
			left.accounts, err = roomsOf(ctx, tx, list[0].Workspace, list[0].Accounts)
		}
		for i := range list {
			if err != nil {
				return err
			}
			claims[i], err = s.claim(ctx, tx, list[i], &left)
		}
		return err
	})
	return claims, err
}

// room is what a project may still get.
type room struct {
	documents int
	bytes     int64
	limits    knowledge.LimitsConfig // 0 = any
	accounts  []accountRoom
}

// roomFor returns the room of the project of a version. Other transactions that add to
// the project wait until this one ends.
func roomFor(ctx context.Context, tx transaction, nv NewVersion, limits knowledge.LimitsConfig) (room, error) {
	r := room{limits: limits}
	if limits.Documents == 0 && limits.Bytes == 0 {
		return r, nil
	}
	if err := lockProject(ctx, tx, nv.Workspace, nv.Project); err != nil {
		return r, err
	}
	if limits.Documents > 0 {
		n, err := countDocuments(ctx, tx, nv.Workspace, nv.Project)
		if err != nil {
			return r, err
		}
		r.documents = limits.Documents - n
	}
	if limits.Bytes > 0 {
		used, err := usageOf(ctx, tx, nv.Workspace, nv.Project, "")
		if err != nil {
			return r, err
		}
		r.bytes = limits.Bytes - used.bytes
	}
	return r, nil
}

// take takes the room of a version, which replaces the document's version if there is
// one. It returns why there is none.
func (r *room) take(a *addition) *knowledge.Error {
	added, bytes := 1, a.Bytes
	if a.there && !a.doc.Removed {
		added, bytes = 0, a.Bytes-a.doc.Bytes
	}
	var refused *knowledge.Error
	switch {
	case added > 0 && r.limits.Documents > 0 && r.documents < 1:
		refused = knowledge.Errorf(knowledge.CodeLimitReached, "the project has its %d documents: remove some, or raise limits.documents, and retry", r.limits.Documents)
	case bytes > 0 && r.limits.Bytes > 0 && r.bytes < bytes:
		refused = knowledge.Errorf(knowledge.CodeLimitReached, "the document has %d bytes, and its project has room for %d of its %d: remove some documents, or raise limits.bytes, and retry",
			a.Bytes, max(r.bytes+a.Bytes-bytes, 0), r.limits.Bytes)
	default:
		if refused = r.takeOfAccounts(added, bytes); refused != nil {
			break
		}
		r.documents, r.bytes = r.documents-added, r.bytes-bytes
		return nil
	}
	refused.Retryable = true
	return refused
}

// takeOfAccounts takes the room of a version at every account, or returns why one has none.
func (r *room) takeOfAccounts(added int, bytes int64) *knowledge.Error {
	for _, a := range r.accounts {
		if bytes > 0 || added > 0 {
			if refused := noRoom(a.account, a.used, added, bytes); refused != nil {
				return refused
			}
		}
	}
	for i := range r.accounts {
		r.accounts[i].used.documents += added
		r.accounts[i].used.bytes += bytes
	}
	return nil
}

// HasRoom reports whether a project that may have limit documents, 0 = any, may have a
// version of this one.
func (s *importStore) HasRoom(ctx context.Context, i Import, document string, limit int) (bool, error) {
	if limit == 0 {
		return true, nil
	}
	var there bool
	var n int
	_, err := first(ctx, s.reader, []any{&n, &there}, `SELECT count(*), EXISTS (SELECT 1 FROM documents WHERE id = ?3 AND removed = FALSE)
		FROM documents WHERE workspace = ?1 AND project = ?2 AND removed = FALSE`, i.Workspace, i.Project, document)
	if err != nil {
		return false, fmt.Errorf("count the documents of project %s: %w", i.Project, failure(err))
	}
	return there || n < limit, nil
}

func (s *importStore) claim(ctx context.Context, tx transaction, nv NewVersion, left *room) (ImportClaim, error) {
	a := addition{NewVersion: nv}
	a.Now = s.orNow(nv.Now)
	again, err := a.claimed(ctx, tx)
	switch {
	case err != nil:
		return ImportClaim{}, err
	case again:
		return a.reclaim(ctx, tx)
	case a.there && a.doc.RemovingUpto > 0:
		refused := knowledge.Errorf(knowledge.CodeConflict, "the document of an earlier import is being removed; retry when it is gone")
		refused.Retryable = true
		return ImportClaim{Refused: refused}, nil
	}
	if refused := left.take(&a); refused != nil {
		return ImportClaim{Refused: refused}, nil
	}
	err = a.begin(ctx, tx)
	if refused, ok := errors.AsType[*knowledge.Error](err); ok { // too many tags, with those that it has
		return ImportClaim{Refused: refused}, nil
	}
	if err == nil {
		err = a.attributes.addFound(a.Facts)
	}
	if err == nil {
		err = a.insertVersion(ctx, tx)
	}
	if err != nil {
		return ImportClaim{}, err
	}
	_, v, err := a.result()
	return ImportClaim{Version: v}, err
}

// claimed reads the document, and reports whether its newest version is a claim of
// this run.
func (a *addition) claimed(ctx context.Context, tx transaction) (bool, error) {
	var err error
	if a.there, err = loadDocument(ctx, tx, a.DocumentID, &a.doc); err != nil || !a.there {
		return false, err
	}
	if a.doc.Workspace != a.Workspace || a.doc.Project != a.Project {
		return false, knowledge.NotFound("document", a.DocumentID)
	}
	if a.doc.Status != string(knowledge.StatusPending) || a.doc.RemovingUpto > 0 {
		return false, nil
	}
	return versionTable.first(ctx, tx, &a.row, "v.document_id = ? AND v.version = ? AND v.status = 'pending' AND v.run_id = ?", a.DocumentID, a.doc.Version, a.RunID)
}

// reclaim writes the attributes and the facts of the new claim to the version that was
// claimed before.
func (a *addition) reclaim(ctx context.Context, tx transaction) (ImportClaim, error) {
	before := a.row
	if err := a.base(ctx, tx); err != nil {
		return ImportClaim{}, err
	}
	if err := a.attributes.merge(&a.NewVersion); err != nil {
		return ImportClaim{}, err
	}
	err := a.attributes.addFound(a.Facts)
	if err != nil {
		return ImportClaim{}, err
	}
	if a.row, err = a.version(); err != nil {
		return ImportClaim{}, err
	}
	a.row.CreatedAt = before.CreatedAt
	if err := versionTable.update(ctx, tx, &a.row); err != nil {
		return ImportClaim{}, err
	}
	if err := a.row.putSubjects(ctx, tx, true); err != nil {
		return ImportClaim{}, err
	}
	_, v, err := a.result()
	return ImportClaim{Version: v, Reused: true}, err
}

// HasClaim reports whether an import that is working has claimed a version of a
// document up to upto and not published it.
func (s *importStore) HasClaim(ctx context.Context, workspace, document string, upto int) (bool, error) {
	var one int
	there, err := first(ctx, s.reader, []any{&one}, `SELECT 1 FROM document_versions AS v JOIN imports AS i ON i.run_id = v.run_id
		WHERE v.document_id = ? AND v.workspace = ? AND v.version <= ? AND v.status = 'pending' AND i.workspace = v.workspace AND i.status = 'running' LIMIT 1`,
		document, workspace, upto)
	if err != nil {
		return false, fmt.Errorf("look for claims of document %s: %w", document, failure(err))
	}
	return there, nil
}

// isLost reports whether somebody else is to publish a version by now: another try of the
// import, which has claimed it again, or the run of a retry.
func (c claim) isLost(ctx context.Context, tx transaction, ref knowledge.VersionRef) (bool, error) {
	var one int
	return first(ctx, tx, []any{&one}, "SELECT 1 FROM document_versions WHERE document_id = ? AND version = ? AND status = 'pending' AND (run_id <> ? OR source_key <> ?)",
		ref.Document, ref.Version, c.run, c.source)
}

// failClaim ends a claimed version with an error, if the claim holds. The document shows
// the error if this is its newest version.
func failClaim(ctx context.Context, tx transaction, ref knowledge.VersionRef, by claim, e knowledge.DocumentError) error {
	text, err := encodeError(&e)
	if err != nil {
		return err
	}
	now := micros(tx.now())
	ended, err := changed(tx.exec(ctx, `UPDATE document_versions SET status = 'error', stage = ?, error = ?, updated_at = ?
		WHERE document_id = ? AND version = ? AND status = 'pending' AND run_id = ? AND source_key = ?`,
		e.Stage, text, now, ref.Document, ref.Version, by.run, by.source))
	if err != nil || !ended {
		return err
	}
	_, err = tx.exec(ctx, "UPDATE documents SET status = 'error', stage = ?, error = ?, acknowledged_version = 0, updated_at = ? WHERE id = ? AND version = ?", e.Stage, text, now, ref.Document, ref.Version)
	return err
}
