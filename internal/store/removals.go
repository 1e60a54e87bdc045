package store

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// removalStore removes documents and projects.
type removalStore struct{ *database }

// Removal is a document whose versions up to Upto are being removed.
type Removal struct {
	Workspace string
	Project   string
	Document  string
	RunID     string
	Upto      int
}

func (r *documentRow) removal() Removal {
	return Removal{
		Workspace: r.Workspace, Project: r.Project, Document: r.ID,
		RunID: r.RemovingRun, Upto: r.RemovingUpto,
	}
}

// MarkRemoving hides a document at once, with every version that it has now, and
// inserts the run of its removal. Its attachments are marked with it. A legal hold is a conflict. A repetition changes
// nothing and returns the first removal, unless newer versions were uploaded since:
// then the new removal includes them, in a run of its own.
func (s *removalStore) MarkRemoving(ctx context.Context, p knowledge.Principal, documentID, runID string, now time.Time) (Removal, error) {
	if err := requireWorkspace(p); err != nil {
		return Removal{}, err
	}
	now = s.orNow(now)
	var doc *documentRow
	err := s.write(ctx, "mark document "+documentID+" as removed", func(ctx context.Context, tx transaction) (err error) {
		doc, err = markManaged(ctx, tx, p, RemovalMark{documentID, runID}, now)
		return err
	})
	if err != nil {
		return Removal{}, err
	}
	return doc.removal(), nil
}

// markManaged marks a document that the principal may change. It has changed nothing if
// it returns CodeNotFound, or CodeConflict for a legal hold.
func markManaged(ctx context.Context, tx transaction, p knowledge.Principal, m RemovalMark, now time.Time) (*documentRow, error) {
	doc, err := managed(ctx, tx, p, m.Document)
	if err != nil {
		return nil, err
	}
	switch {
	case doc.held():
		return nil, doc.refusal(ctx, tx)
	case doc.RemovingUpto == doc.Version:
		return doc, refuseRemoved(ctx, tx, doc.Workspace, doc.Project)
	}
	if err := doc.mark(ctx, tx, p.Owner(), m.RunID, now); err != nil {
		return nil, err
	}
	return doc, markChildren(ctx, tx, p.Owner(), doc.ID, now)
}

// mark starts the removal of all versions that the document has now. The row must
// come from loadDocument or loadDocuments.
func (r *documentRow) mark(ctx context.Context, tx transaction, owner, runID string, now time.Time) error {
	if r.RemovingUpto == 0 {
		if err := r.announce(ctx, tx, knowledge.WebhookDeleted, runID, micros(now)); err != nil {
			return err
		}
	}
	r.RemovingUpto, r.RemovingRun, r.RemovingSince, r.UpdatedAt = r.Version, runID, micros(now), micros(now)
	_, err := tx.NewUpdate().Model(r).Column("removing_upto", "removing_run", "removing_since", "updated_at").WherePK().Exec(ctx)
	if err != nil {
		return err
	}
	return insertRun(ctx, tx, Run{
		ID: runID, Workspace: r.Workspace, Project: r.Project, Kind: knowledge.KindRemove, Status: knowledge.RunRunning, Owner: owner,
		WorkflowID: knowledge.KindRemove.WorkflowID(r.Workspace, r.ID), Subject: r.ID, Version: r.Version, CreatedAt: now,
	})
}

// markAttachments starts the removal of the documents that are attached to a
// conversation, except those under legal hold.
func markAttachments(ctx context.Context, tx transaction, workspace, owner, conversation string, now time.Time) error {
	rows, err := loadDocuments(ctx, tx, "d.workspace = ? AND d.removing_upto < d.version AND d.removed = FALSE AND "+unheld+" "+
		"AND d.conversation_id = ? AND d.conversation_id <> '' AND d.external_user_id = ''", workspace, conversation) // not '' for the index
	for i := range rows {
		if err == nil {
			err = rows[i].mark(ctx, tx, owner, knowledge.NewID(), now)
		}
	}
	return err
}

// Removal returns the running removal of a document; not found if there is none.
func (s *removalStore) Removal(ctx context.Context, p knowledge.Principal, documentID string) (Removal, error) {
	if err := requireWrite(p); err != nil {
		return Removal{}, err
	}
	var doc documentRow
	there, err := found(within(s.reader.NewSelect().Model(&doc), "d", p).Where("d.id = ? AND d.removing_upto > 0", documentID).Scan(ctx))
	switch {
	case err != nil:
		return Removal{}, fmt.Errorf("read the removal of document %s: %w", documentID, failure(err))
	case !there:
		return Removal{}, knowledge.NotFound("removal of a document", documentID)
	}
	return doc.removal(), nil
}

// PendingRemovals lists removals that have not ended, oldest first, from the first one
// after a position on. Those of a project that is removed as a whole are left out, and those of
// a running erasure that has not yet cut all quotations. next is where the page ended, zero after
// the last page.
func (s *removalStore) PendingRemovals(ctx context.Context, after Position, limit int) (list []Removal, next Position, err error) {
	var rows []documentRow
	err = s.reader.NewSelect().Model(&rows).Where("d.removing_upto > 0").
		Where("(d.removing_since, d.id) > (?, ?)", micros(after.At), after.ID).
		Where("NOT EXISTS (SELECT 1 FROM projects AS p WHERE p.workspace = d.workspace AND p.id = d.project AND p.removing_run = d.removing_run)").
		Where("NOT EXISTS (SELECT 1 FROM erasure_documents AS e JOIN runs AS r ON r.id = e.run_id WHERE e.document_id = d.id AND e.quoted = TRUE AND r.status = ?)", knowledge.RunRunning).
		OrderExpr("d.removing_since, d.id").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return nil, next, fmt.Errorf("list removals: %w", failure(err))
	}
	if len(rows) == limit {
		last := rows[limit-1]
		next = Position{At: fromMicros(last.RemovingSince), ID: last.ID}
	}
	return convert(rows, func(r documentRow) Removal { return r.removal() }), next, nil
}

// RunningVersions lists the versions of a document up to upto whose run has not ended.
// Those of imports are left out: HasClaim looks for them.
func (s *removalStore) RunningVersions(ctx context.Context, workspace, document string, upto int) ([]Version, error) {
	var rows []versionRow
	err := selectVersions(s.reader, &rows).Join("JOIN runs AS r ON r.id = v.run_id").
		Where("v.document_id = ? AND v.workspace = ? AND v.version <= ? AND r.status = ? AND r.kind <> ?", document, workspace, upto, knowledge.RunRunning, knowledge.KindImport).
		OrderExpr("v.version").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("list running versions of document %s: %w", document, failure(err))
	}
	return decodeRows(rows, (*versionRow).version)
}

// RemoveRows deletes the chunks of removals in batches, and then their versions. A
// document's row becomes a tombstone that keeps the version counter; if it has
// newer versions, it keeps those, or stays in removal if a later removal includes
// them. Removals share transactions as long as they have few chunks. Repeating it changes nothing.
func (s *removalStore) RemoveRows(ctx context.Context, removals ...Removal) error {
	for len(removals) > 0 {
		done := 0
		err := s.write(ctx, "remove the rows of document "+removals[0].Document, func(ctx context.Context, tx transaction) error {
			done = 0
			for chunks := chunksPerBatch; done < len(removals); done++ {
				deleted, err := removals[done].deleteRows(ctx, tx, chunks)
				if chunks -= deleted; err != nil || chunks <= 0 {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		removals = removals[done:]
	}
	return nil
}

// deleteRows deletes at most limit chunks of a removal, and its versions if it has fewer. It returns
// the number of chunks that it has deleted.
func (r Removal) deleteRows(ctx context.Context, tx transaction, limit int) (deleted int, err error) {
	var doc documentRow
	removing, err := r.load(ctx, tx, &doc)
	if err != nil || !removing {
		return 0, err
	}
	deleted, err = deleteBatch(ctx, tx, selectChunks(tx).Where("c.document_id = ? AND c.version <= ?", r.Document, r.Upto), limit)
	if err != nil || deleted == limit {
		return deleted, err
	}
	return deleted, r.deleteVersions(ctx, tx, &doc)
}

func (r Removal) deleteVersions(ctx context.Context, tx transaction, doc *documentRow) error {
	if err := forgetEvents(ctx, tx, doc); err != nil {
		return err
	}
	if _, err := tx.exec(ctx, "DELETE FROM document_subjects WHERE document_id = ? AND version <= ?", r.Document, r.Upto); err != nil {
		return err
	}
	_, err := tx.NewDelete().Model((*versionRow)(nil)).Where("document_id = ? AND version <= ?", r.Document, r.Upto).Exec(ctx)
	switch {
	case err != nil || doc.RemovingUpto > r.Upto:
		return err
	case doc.Version > r.Upto:
		doc.PublishedVersion, doc.RemovingUpto, doc.RemovingRun, doc.RemovingSince = 0, 0, "", 0
		_, err = tx.NewUpdate().Model(doc).Column("published_version", "removing_upto", "removing_run", "removing_since").WherePK().Exec(ctx)
		return err
	}
	return entomb(ctx, tx, doc, micros(tx.now()))
}

// load reads the document of a removal. It reports whether the removal is still to
// be done.
func (r Removal) load(ctx context.Context, tx transaction, doc *documentRow) (bool, error) {
	*doc = documentRow{}
	there, err := loadDocument(ctx, tx, r.Document, doc)
	return there && doc.Workspace == r.Workspace && doc.RemovingUpto >= r.Upto, err
}

// entomb deletes everything of a document but its id and its version counter.
func entomb(ctx context.Context, tx transaction, doc *documentRow, now int64) error {
	tombstone := documentRow{
		ID: doc.ID, Workspace: doc.Workspace, Project: doc.Project, Version: doc.Version, Removed: true,
		Status: string(knowledge.StatusDeleting), attributes: attributes{Tags: "[]", Metadata: "{}", Access: "{}"}, Language: undetermined,
		Events: doc.Events, CreatedAt: doc.CreatedAt, UpdatedAt: now,
	}
	if _, err := tx.NewUpdate().Model(&tombstone).WherePK().Exec(ctx); err != nil {
		return err
	}
	return tombstone.setWords(ctx, tx, true)
}

// SourceKeys returns the blob keys of the originals of versions above after.
func (s *removalStore) SourceKeys(ctx context.Context, workspace, document string, after int) ([]string, error) {
	keys := []string{}
	err := s.reader.NewSelect().Model((*versionRow)(nil)).Column("source_key").
		Where("document_id = ? AND workspace = ? AND version > ? AND source_key <> ''", document, workspace, after).
		OrderExpr("version").Scan(ctx, &keys)
	if err != nil {
		return nil, fmt.Errorf("list originals of document %s: %w", document, failure(err))
	}
	return keys, nil
}

// RetiredSources returns the blob keys of the originals that only versions before
// ref name. A document under legal hold has none, and one that is still being
// ingested keeps its own.
func (s *removalStore) RetiredSources(ctx context.Context, ref knowledge.VersionRef) ([]string, error) {
	keys := []string{}
	err := s.reader.NewSelect().Model((*versionRow)(nil)).ColumnExpr("DISTINCT v.source_key").
		Join("JOIN documents AS d ON d.id = v.document_id AND "+unheld).
		Where("v.document_id = ? AND v.workspace = ? AND v.version < ? AND v.source_key <> ''", ref.Document, ref.Workspace, ref.Version).
		Where("NOT EXISTS (SELECT 1 FROM document_versions AS o WHERE o.document_id = v.document_id AND o.source_key = v.source_key AND (o.version >= ? OR o.status = 'pending'))", ref.Version).
		Scan(ctx, &keys)
	if err != nil {
		return nil, fmt.Errorf("list retired originals of document %s: %w", ref.Document, failure(err))
	}
	return keys, nil
}

// ReplacedVersions returns the newest versions before ref that were published and whose
// originals no newer version has.
func (s *removalStore) ReplacedVersions(ctx context.Context, ref knowledge.VersionRef, limit int) ([]Version, error) {
	var rows []versionRow
	err := selectVersions(s.reader, &rows).
		Where("v.document_id = ? AND v.workspace = ? AND v.version < ? AND v.status = 'inactive' AND v.stage = 'publish' AND v.source_key <> ''", ref.Document, ref.Workspace, ref.Version).
		Where("NOT EXISTS (SELECT 1 FROM document_versions AS o WHERE o.document_id = v.document_id AND o.source_key = v.source_key AND o.version > v.version)").
		OrderExpr("v.version DESC").Limit(int64(limit)).Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("list replaced versions of document %s: %w", ref.Document, failure(err))
	}
	return decodeRows(rows, (*versionRow).version)
}

// NamedSources returns those blob keys of originals that a version of these
// documents names.
func (s *removalStore) NamedSources(ctx context.Context, documents []string) ([]string, error) {
	keys := []string{}
	err := s.reader.NewSelect().Model((*versionRow)(nil)).Column("source_key").Where("document_id IN (?)", bun.List(documents)).Scan(ctx, &keys)
	if err != nil {
		return nil, fmt.Errorf("list originals of %d documents: %w", len(documents), failure(err))
	}
	return keys, nil
}
