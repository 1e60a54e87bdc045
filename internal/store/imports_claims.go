package store

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

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
// not published is claimed again, with the new attributes. limit is the number of
// documents that the project may have, 0 = any.
//
// A document that is being removed, or one more than limit, is refused; the others
// are claimed.
func (s *Store) ClaimVersions(ctx context.Context, list []NewVersion, limit int) ([]ImportClaim, error) {
	if len(list) == 0 {
		return nil, nil
	}
	claims := make([]ImportClaim, len(list))
	err := s.write(ctx, fmt.Sprintf("claim %d versions", len(list)), func(ctx context.Context, tx transaction) error {
		room, err := roomFor(ctx, tx, list[0], limit)
		for i := range list {
			if err != nil {
				return err
			}
			claims[i], err = s.claim(ctx, tx, list[i], &room)
		}
		return err
	})
	return claims, err
}

// room is how many documents a project may still get.
type room struct {
	left, limit int // limit 0 = any
}

func roomFor(ctx context.Context, tx transaction, nv NewVersion, limit int) (room, error) {
	if limit == 0 {
		return room{}, nil
	}
	var n int
	_, err := first(ctx, tx, []any{&n}, "SELECT count(*) FROM documents WHERE workspace = ? AND project = ? AND removed = FALSE", nv.Workspace, nv.Project)
	return room{left: limit - n, limit: limit}, err
}

// take reports whether there is room for one more document, and takes it.
func (r *room) take() bool {
	if r.limit == 0 {
		return true
	}
	r.left--
	return r.left >= 0
}

func (s *Store) claim(ctx context.Context, tx transaction, nv NewVersion, left *room) (ImportClaim, error) {
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
	case (!a.there || a.doc.Removed) && !left.take():
		refused := knowledge.Errorf(knowledge.CodeLimitReached, "the project has its %d documents: remove some, or raise limits.documents, and retry", left.limit)
		refused.Retryable = true
		return ImportClaim{Refused: refused}, nil
	}
	if err := a.begin(ctx, tx); err != nil {
		return ImportClaim{}, err
	}
	if err := a.insertVersion(ctx, tx); err != nil {
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

// reclaim gives the version that was claimed before the attributes and the facts of
// the new claim.
func (a *addition) reclaim(ctx context.Context, tx transaction) (ImportClaim, error) {
	before := a.row
	if err := a.base(ctx, tx); err != nil {
		return ImportClaim{}, err
	}
	if err := a.attributes.merge(&a.NewVersion); err != nil {
		return ImportClaim{}, err
	}
	var err error
	if a.row, err = a.version(); err != nil {
		return ImportClaim{}, err
	}
	a.row.CreatedAt = before.CreatedAt
	if err := versionTable.update(ctx, tx, &a.row); err != nil {
		return ImportClaim{}, err
	}
	_, v, err := a.result()
	return ImportClaim{Version: v, Reused: true}, err
}

// HasClaim reports whether an import that is working has claimed a version of a
// document up to upto and not published it.
func (s *Store) HasClaim(ctx context.Context, workspace, document string, upto int) (bool, error) {
	var one int
	there, err := first(ctx, s.reader, []any{&one}, `SELECT 1 FROM document_versions AS v JOIN imports AS i ON i.run_id = v.run_id
		WHERE v.document_id = ? AND v.workspace = ? AND v.version <= ? AND v.status = 'pending' AND i.workspace = v.workspace AND i.status = 'running' LIMIT 1`,
		document, workspace, upto)
	if err != nil {
		return false, fmt.Errorf("look for claims of document %s: %w", document, failure(err))
	}
	return there, nil
}

// failClaim ends a claimed version with an error. The document shows the error if
// this is its newest version.
func (s *Store) failClaim(ctx context.Context, tx transaction, ref knowledge.VersionRef, e knowledge.DocumentError) error {
	text, err := encodeError(&e)
	if err != nil {
		return err
	}
	now := micros(s.now())
	ended, err := changed(tx.exec(ctx, "UPDATE document_versions SET status = 'error', stage = ?, error = ?, updated_at = ? WHERE document_id = ? AND version = ? AND status = 'pending'",
		e.Stage, text, now, ref.Document, ref.Version))
	if err != nil || !ended {
		return err
	}
	_, err = tx.exec(ctx, "UPDATE documents SET status = 'error', stage = ?, error = ?, updated_at = ? WHERE id = ? AND version = ?", e.Stage, text, now, ref.Document, ref.Version)
	return err
}
