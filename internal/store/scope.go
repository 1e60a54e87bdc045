package store

import (
	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// known refuses a principal that belongs to no workspace: it sees nothing.
func known(p knowledge.Principal) error {
	if p.Workspace() == "" {
		return knowledge.Errorf(knowledge.CodeForbidden, "this request has no workspace, so there is nothing that it may see: send an API key or a token")
	}
	return nil
}

// manages refuses a principal that may not change documents.
func manages(p knowledge.Principal) error {
	if err := known(p); err != nil {
		return err
	}
	if !p.Can(knowledge.ScopeWrite) {
		return knowledge.Errorf(knowledge.CodeForbidden, "changing a document needs a key with the write scope")
	}
	return nil
}

// within holds a query to the principal's workspace and project.
func within(q *bun.SelectQuery, alias string, p knowledge.Principal) *bun.SelectQuery {
	a := bun.Ident(alias)
	q = q.Where("?.workspace = ?", a, p.Workspace())
	if p.Project() != "" {
		q = q.Where("?.project = ?", a, p.Project())
	}
	return q
}

// unhidden is the condition on a document d that readers may find it.
const unhidden = `d.removed = FALSE AND d.removing_upto = 0 AND d.inactive = FALSE`

// reached is the condition on a document d that a reader finds what is published
// of it: not hidden, and a token in common.
const reached = unhidden + `
	AND EXISTS (SELECT 1 FROM document_tokens AS t WHERE t.document_id = d.id AND t.token IN (?))`

// visible is the condition on a document d that a reader may know of it: reached,
// and published. What is one user's or one conversation's alone only those reach,
// and they may follow it from its upload on.
const visible = reached + ` AND (d.published_version > 0 OR d.external_user_id <> '' OR d.conversation_id <> '')`

// readable holds a query of documents d to those that the principal may list
// and open: all of its project for who manages, else those visible to it.
func readable(q *bun.SelectQuery, p knowledge.Principal) *bun.SelectQuery {
	q = within(q, "d", p)
	if p.Can(knowledge.ScopeWrite) {
		return q.Where("d.removed = FALSE")
	}
	return q.Where(visible, bun.List(p.Tokens()))
}
