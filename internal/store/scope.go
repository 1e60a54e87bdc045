package store

import (
	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// requireWorkspace refuses a principal without a workspace: it sees nothing.
func requireWorkspace(p knowledge.Principal) error {
	if p.Workspace() == "" {
		return knowledge.Errorf(knowledge.CodeForbidden, "this request has no workspace, so there is nothing that it may see: send an API key or a token")
	}
	return nil
}

// requireProjectOf refuses a principal of no workspace, or of another project.
func requireProjectOf(p knowledge.Principal, project string) error {
	if err := requireWorkspace(p); err != nil {
		return err
	}
	if !p.CoversProject(project) {
		return knowledge.NotFound("project", project)
	}
	return nil
}

// requireWrite refuses a principal that may not change documents.
func requireWrite(p knowledge.Principal) error {
	if err := requireWorkspace(p); err != nil {
		return err
	}
	if !p.Can(knowledge.ScopeWrite) {
		return knowledge.Errorf(knowledge.CodeForbidden, "changing a document needs a key with the write scope")
	}
	return nil
}

// within restricts a query to the principal's workspace and project.
func within(q *bun.SelectQuery, alias string, p knowledge.Principal) *bun.SelectQuery {
	a := bun.Ident(alias)
	q = q.Where("?.workspace = ?", a, p.Workspace())
	if p.Project() != "" {
		q = q.Where("?.project = ?", a, p.Project())
	}
	return q
}

// withinIDs is within for the documents d of some ids. The concatenation keeps SQLite to them,
// where it would begin at every document of the workspace.
func withinIDs(q *bun.SelectQuery, ids []string, p knowledge.Principal) *bun.SelectQuery {
	q = q.Where("d.id IN (?) AND d.workspace || '' = ?", bun.List(ids), p.Workspace())
	if p.Project() != "" {
		q = q.Where("d.project || '' = ?", p.Project())
	}
	return q
}

// unhidden is the condition that a document d is neither removed nor inactive.
const unhidden = notRemoved + " AND " + active

// reached is the condition that a reader with the marks of the list finds the published
// version of a document d: the document is not hidden, the reader's clearance covers it, the
// reader is let in, and no grant denies it.
func reached(list string) string {
	return unhidden + " AND " + cleared(list) + " AND " + undenied(list) + " AND " + admitted(list)
}

// hasToken is the condition that one of the tokens of a document d is in the list.
func hasToken(tokens string) string {
	return "EXISTS (SELECT 1 FROM document_tokens AS t WHERE t.document_id = d.id AND t.token IN (" + tokens + "))"
}

// visible is the condition that a reader may know of a document d: it is reached, and
// published. Documents of one user or one conversation alone are reached by
// nobody else, and are visible from their upload on.
func visible(tokens string) string {
	return reached(tokens) + ` AND (d.published_version > 0 OR d.external_user_id <> '' OR d.conversation_id <> '')`
}

// inScope is the condition on an alias that a row is of the workspace ?1 and, unless
// that is empty, of the project ?2.
func inScope(alias string) string { return ofWorkspace(alias) + " AND " + ofProject(alias) }

// tokens3 are the words of the parameter ?3, which is the list of marks of a principal.
const tokens3 = "SELECT value FROM json_each(?3)"

// readable restricts a query of documents d to those that the principal, who has these marks,
// may list and open: with the write scope all of its project that its clearance reaches and no
// grant denies, otherwise those visible to it.
func readable(q *bun.SelectQuery, p knowledge.Principal, m marks) *bun.SelectQuery {
	return readableIn(within(q, "d", p), p, m)
}

// readableIn is readable for a query that is restricted to the principal's workspace and project.
func readableIn(q *bun.SelectQuery, p knowledge.Principal, m marks) *bun.SelectQuery {
	if p.Can(knowledge.ScopeWrite) {
		return q.Where(manageable("?0"), m.bound())
	}
	return q.Where(visible("?0"), m.bound())
}
