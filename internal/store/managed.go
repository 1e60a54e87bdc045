package store

import (
	"context"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// managed reads a document that the principal may change: with the write scope, or by a grant.
// Without either, and where a grant denies it, it is CodeForbidden. Others are not found.
func managed(ctx context.Context, tx transaction, p knowledge.Principal, id string) (*documentRow, error) {
	var doc documentRow
	there, err := loadDocument(ctx, tx, id, &doc)
	if err != nil {
		return nil, err
	}
	if !there || doc.Removed || doc.Workspace != p.Workspace() || !p.CoversProject(doc.Project) {
		if !p.Can(knowledge.ScopeWrite) {
			return nil, noGrant()
		}
		return nil, knowledge.NotFound("document", id)
	}
	if err := requireChange(ctx, tx, p, id); err != nil {
		return nil, err
	}
	return &doc, nil
}

// noGrant refuses a reader without a grant to write, whether the document is there or not.
func noGrant() error {
	return knowledge.Errorf(knowledge.CodeForbidden, "this needs the permission %s (of the roles editor and admin), or a grant to write on the document", knowledge.DocumentsWrite)
}

// changeOfDocument selects, for the document ?2 and the marks ?3: whether a principal with the
// write scope knows it, whether another one does, and whether grants allow and deny a change.
var changeOfDocument = "SELECT " + strings.Join([]string{
	"(" + manageable(tokens3) + ")", "(" + visible(tokens3) + ")", among(markWritable, tokens3), among(markUnwritable, tokens3),
}, ", ") + " FROM documents AS d WHERE " + ofWorkspace("d") + " AND d.id = ?2"

// requireChange refuses a principal that may not change a document.
func requireChange(ctx context.Context, tx transaction, p knowledge.Principal, id string) error {
	m, err := marksIn(ctx, tx, p, micros(tx.now()))
	if err != nil {
		return err
	}
	var manages, sees, allowed, denied bool
	there, err := first(ctx, tx, []any{&manages, &sees, &allowed, &denied}, changeOfDocument, p.Workspace(), id, m.list())
	switch {
	case err != nil:
		return err
	case !p.Can(knowledge.ScopeWrite) && (!sees || !allowed):
		return noGrant()
	case !there || p.Can(knowledge.ScopeWrite) && !manages:
		return knowledge.NotFound("document", id)
	case denied:
		return knowledge.Errorf(knowledge.CodeForbidden, "a grant denies these credentials to change this document")
	}
	return nil
}
