package store

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// A person owns a document that only the person may read, whose published or a later version the
// person uploaded, that is attached to a conversation of the person, or that names the person
// among its subjects.

// owned returns the condition that the person of a scope owns a document d.
func (s SubjectScope) owned() (where string, args []any, err error) {
	access, err := encode(knowledge.Access{Users: []string{s.Person.Name}})
	if err != nil {
		return "", nil, err
	}
	alone, name := "(d.external_user_id = '' AND d.conversation_id = '' AND d.access = ?)", access
	if s.Person.External {
		alone, name = "d.external_user_id = ?", s.Person.Name
	}
	where = "d.workspace = ? AND d.removed = FALSE AND (" + alone + `
		OR d.id IN (SELECT v.document_id FROM document_versions AS v WHERE v.workspace = ? AND v.uploaded_by = ? AND v.version >= d.published_version)
		OR d.conversation_id <> '' AND d.conversation_id IN (SELECT c.id FROM conversations AS c WHERE c.workspace = ? AND c.owner = ?)
		OR d.id IN (SELECT s.document_id FROM document_subjects AS s WHERE s.workspace = ? AND s.subject = ? AND s.version >= d.published_version))`
	return where, []any{s.Workspace, name, s.Workspace, s.owner(), s.Workspace, s.owner(), s.Workspace, s.Person.Name}, nil
}

// SubjectDocuments lists the documents that the person of a scope owns, by id, from the first
// one after a document on.
func (s *subjectStore) SubjectDocuments(ctx context.Context, scope SubjectScope, after string, limit int) ([]knowledge.Document, error) {
	where, args, err := scope.owned()
	if err != nil {
		return nil, err
	}
	rows, err := documentTable.all(ctx, s.reader, where+" AND d.id > ? ORDER BY d.id LIMIT ?", append(args, after, limit)...)
	if err != nil {
		return nil, fmt.Errorf("list the documents of a person: %w", failure(err))
	}
	return decodeRows(rows, (*documentRow).document)
}

// SubjectVersions returns the versions of a document, oldest first.
func (s *subjectStore) SubjectVersions(ctx context.Context, workspace, document string) ([]Version, error) {
	var rows []versionRow
	if err := selectVersions(s.reader, &rows).Where("v.document_id = ? AND v.workspace = ?", document, workspace).OrderExpr("v.version").Scan(ctx); err != nil {
		return nil, fmt.Errorf("list the versions of document %s: %w", document, failure(err))
	}
	return decodeRows(rows, (*versionRow).version)
}

// EraseDocuments hides the next documents that the person of a scope owns and that no hold
// keeps, after a document, at most limit of them. It returns their removals, whose workflows the
// caller starts once answers quote none of QuotedDocuments, and the id of the last document that
// it looked at, "" = there was none.
func (s *subjectStore) EraseDocuments(ctx context.Context, scope SubjectScope, after string, limit int) (removals []Removal, last string, err error) {
	where, args, err := scope.owned()
	if err != nil {
		return nil, "", err
	}
	err = s.write(ctx, "erase documents of a person", func(ctx context.Context, tx transaction) error {
		removals, last = nil, ""
		rows, err := documentTable.all(ctx, tx, where+" AND d.id > ? ORDER BY d.id LIMIT ?", append(args, after, limit)...)
		if err != nil {
			return err
		}
		added := 0
		for i := range rows {
			last = rows[i].ID
			r, fresh, err := s.eraseDocument(ctx, tx, scope, last)
			switch {
			case err != nil:
				return err
			case r.Document != "":
				removals = append(removals, r)
			}
			added += fresh
		}
		if added == 0 {
			return nil
		}
		return scope.noteErased(ctx, tx, func(p *knowledge.ErasureProgress) { p.Removed.Documents += added })
	})
	return removals, last, err
}

// eraseDocument starts the removal of a document and its attachments, unless a hold keeps it.
// fresh is how many of them the erasure did not know.
func (s *subjectStore) eraseDocument(ctx context.Context, tx transaction, scope SubjectScope, id string) (r Removal, fresh int, err error) {
	var doc documentRow
	there, err := loadDocument(ctx, tx, id, &doc) // again: it may have been hidden with its parent
	if err != nil || !there || doc.Removed {
		return r, 0, err
	}
	if doc.RemovingUpto < doc.Version {
		if doc.held() {
			return r, 0, nil
		}
		if err := doc.retire(ctx, tx, s.now()); err != nil {
			return r, 0, err
		}
	}
	added, err := tx.exec(ctx, `INSERT INTO erasure_documents (run_id, document_id, workspace, quoted)
		WITH RECURSIVE removed (id) AS (SELECT d.id FROM documents AS d WHERE d.id = ? UNION SELECT d.id FROM documents AS d JOIN removed ON d.parent = removed.id WHERE d.parent <> '' AND d.removing_upto > 0)
		SELECT ?, removed.id, ?, TRUE FROM removed WHERE TRUE ON CONFLICT DO NOTHING`, id, scope.Run, scope.Workspace)
	if err != nil {
		return r, 0, err
	}
	n, err := added.RowsAffected()
	return doc.removal(), int(n), err
}

// QuotedDocuments lists documents that an erasure has hidden and that answers may still quote, at
// most limit of them.
func (s *subjectStore) QuotedDocuments(ctx context.Context, scope SubjectScope, limit int) (ids []string, err error) {
	err = s.reader.NewSelect().TableExpr("erasure_documents AS e").ColumnExpr("e.document_id").
		Where("e.run_id = ? AND e.workspace = ? AND e.quoted = TRUE", scope.Run, scope.Workspace).OrderExpr("e.document_id").Limit(int64(limit)).Scan(ctx, &ids)
	if err != nil {
		return nil, fmt.Errorf("list documents that answers may quote: %w", failure(err))
	}
	return ids, nil
}

// ErasedDocument is a document that an erasure removes.
type ErasedDocument struct {
	ID   string
	Gone bool // its removal has ended
}

// ErasedDocuments lists the documents that an erasure removes, by id, from the first one after a
// document on.
func (s *subjectStore) ErasedDocuments(ctx context.Context, scope SubjectScope, after string, limit int) ([]ErasedDocument, error) {
	var rows []struct {
		ID   string
		Gone bool
	}
	err := s.reader.NewSelect().TableExpr("erasure_documents AS e").ColumnExpr("e.document_id AS id").
		ColumnExpr("NOT EXISTS (SELECT 1 FROM documents AS d WHERE d.id = e.document_id AND d.removed = FALSE AND d.removing_upto > 0) AS gone").
		Where("e.run_id = ? AND e.workspace = ? AND e.document_id > ?", scope.Run, scope.Workspace, after).OrderExpr("e.document_id").Limit(int64(limit)).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("list the documents that an erasure removes: %w", failure(err))
	}
	return convert(rows, func(r struct {
		ID   string
		Gone bool
	}) ErasedDocument {
		return ErasedDocument(r)
	}), nil
}

// DocumentRuns lists the runs of documents that have ended: their ingests and removals.
func (s *subjectStore) DocumentRuns(ctx context.Context, workspace string, documents []string) ([]Run, error) {
	var rows []runRow
	err := s.reader.NewSelect().Model(&rows).Where("r.workspace = ? AND r.kind IN ('ingest', 'remove') AND r.status <> 'running' AND r.subject IN (?)", workspace, bun.List(documents)).
		OrderExpr("r.id").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the runs of documents: %w", failure(err))
	}
	return decodeRows(rows, (*runRow).run)
}

// maxKept bounds the documents that an erasure names as kept by a hold.
const maxKept = 1000

// EndErasure stores which documents legal holds keep, and forgets which ones the erasure
// removed.
func (s *subjectStore) EndErasure(ctx context.Context, scope SubjectScope) error {
	where, args, err := scope.owned()
	if err != nil {
		return err
	}
	return s.write(ctx, "end the erasure of a person", func(ctx context.Context, tx transaction) error {
		rows, err := documentTable.all(ctx, tx, where+" AND (d.legal_hold = TRUE OR d.holds > 0) ORDER BY d.id LIMIT ?", append(args, maxKept)...)
		if err != nil {
			return err
		}
		kept := []knowledge.HeldDocument{}
		for i := range rows {
			held, err := rows[i].heldDocument(ctx, tx)
			if err != nil {
				return err
			}
			kept = append(kept, held)
		}
		if _, err := tx.exec(ctx, "DELETE FROM erasure_documents WHERE run_id = ?", scope.Run); err != nil {
			return err
		}
		return scope.noteErased(ctx, tx, func(p *knowledge.ErasureProgress) { p.KeptByHold = kept })
	})
}
