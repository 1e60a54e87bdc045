package store

import (
	"context"
	"fmt"
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// A child is a document that came as an attachment of another one, its parent. It has
// the access of its parent and is removed with it.

// maxGenerations bounds how deep attachments may contain attachments.
const maxGenerations = 10

// checkParent refuses a child whose parent is being removed, or that is nested too
// deep.
func checkParent(ctx context.Context, tx transaction, parent knowledge.VersionRef) error {
	id := parent.Document
	for generation := 1; id != ""; generation++ {
		var row documentRow
		there, err := loadDocument(ctx, tx, id, &row)
		switch {
		case err != nil:
			return err
		case generation > maxGenerations:
			return knowledge.Errorf(knowledge.CodeParseLimit, "attachments are nested more than %d levels deep", maxGenerations)
		case !there || row.Removed || row.Workspace != parent.Workspace || row.Project != parent.Project,
			generation == 1 && row.RemovingUpto >= parent.Version, generation > 1 && row.RemovingUpto > 0:
			return knowledge.NotFound("document", id)
		}
		id = row.Parent
	}
	return nil
}

// children reads the children of a document that are not being removed.
func children(ctx context.Context, tx transaction, parent string) ([]documentRow, error) {
	return loadDocuments(ctx, tx, "d.parent = ? AND d.parent <> '' AND d.removed = FALSE AND d.removing_upto < d.version", parent)
}

// markChildren starts the removal of the children of a document and of theirs, except
// those under legal hold.
func markChildren(ctx context.Context, tx transaction, owner, parent string, now time.Time) error {
	rows, err := children(ctx, tx, parent)
	if err != nil {
		return err
	}
	for i := range rows {
		if rows[i].held() {
			continue
		}
		if err := rows[i].mark(ctx, tx, owner, knowledge.NewID(), now); err != nil {
			return err
		}
		if err := markChildren(ctx, tx, owner, rows[i].ID, now); err != nil {
			return err
		}
	}
	return nil
}

// RetireChildren starts the removal of the children that a newer version of their
// parent no longer contains. ref is the newest published version of the parent.
func (s *removalStore) RetireChildren(ctx context.Context, ref knowledge.VersionRef) error {
	old := "d.parent = ? AND d.parent <> '' AND d.parent_version < ? AND d.removed = FALSE AND d.removing_upto < d.version AND " + unheld
	rows, err := documentTable.all(ctx, s.reader, old, ref.Document, ref.Version)
	if err != nil || len(rows) == 0 {
		return failure(err)
	}
	return s.write(ctx, "retire attachments of document "+ref.Document, func(ctx context.Context, tx transaction) error {
		rows, err := loadDocuments(ctx, tx, old, ref.Document, ref.Version)
		for i := range rows {
			if err == nil {
				err = rows[i].mark(ctx, tx, "", knowledge.NewID(), s.now())
			}
			if err == nil {
				err = markChildren(ctx, tx, "", rows[i].ID, s.now())
			}
		}
		return err
	})
}

// ChildRemovals lists the removals of the children of a document that have not ended.
func (s *removalStore) ChildRemovals(ctx context.Context, parent string) ([]Removal, error) {
	rows, err := documentTable.all(ctx, s.reader, "d.parent = ? AND d.parent <> '' AND d.removing_upto > 0", parent)
	if err != nil {
		return nil, fmt.Errorf("list removals of attachments of document %s: %w", parent, failure(err))
	}
	return convert(rows, func(r documentRow) Removal { return r.removal() }), nil
}
