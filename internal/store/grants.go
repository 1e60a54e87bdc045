package store

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// grantStore has the grants of workspaces.
type grantStore struct{ *database }

// maxGrants bounds the grants of a workspace: a search compares documents with all that mean
// its reader.
const maxGrants = 10_000

type grantRow struct {
	bun.BaseModel `bun:"table:grants,alias:g"`
	ID            string `bun:"id,pk"`
	Workspace     string `bun:"workspace"`
	Project       string `bun:"project"`
	Subject       string `bun:"subject"`
	Object        string `bun:"object"`
	Effect        string `bun:"effect"`
	Permission    string `bun:"permission"`
	Reason        string `bun:"reason"`
	CreatedBy     string `bun:"created_by"`
	ExpiresAt     int64  `bun:"expires_at"`
	CreatedAt     int64  `bun:"created_at"`
}

func (r *grantRow) grant() (knowledge.Grant, error) {
	return knowledge.Grant{
		ID: r.ID, Workspace: r.Workspace, Project: r.Project, Subject: r.Subject, Object: r.Object,
		Effect: knowledge.GrantEffect(r.Effect), Permission: knowledge.GrantPermission(r.Permission), Reason: r.Reason,
		CreatedBy: r.CreatedBy, ExpiresAt: fromMicros(r.ExpiresAt), CreatedAt: fromMicros(r.CreatedAt),
	}, nil
}

// AddGrant stores a grant of the principal's workspace; one with its id is returned as it is.
// The object must be there for the principal, and a project that is the subject too:
// CodeNotFound. A principal of one project adds grants on that project's documents alone.
func (s *grantStore) AddGrant(ctx context.Context, p knowledge.Principal, g knowledge.Grant) (knowledge.Grant, error) {
	if err := requireWorkspace(p); err != nil {
		return g, err
	}
	g.Workspace, g.CreatedBy, g.CreatedAt = p.Workspace(), p.Owner(), s.orNow(g.CreatedAt)
	if err := s.ofObject(ctx, p, &g); err != nil {
		return g, err
	}
	row := grantRow{
		ID: g.ID, Workspace: g.Workspace, Project: g.Project, Subject: g.Subject, Object: g.Object, Effect: string(g.Effect),
		Permission: string(g.Permission), Reason: g.Reason, CreatedBy: g.CreatedBy, ExpiresAt: micros(g.ExpiresAt), CreatedAt: micros(g.CreatedAt),
	}
	err := s.write(ctx, "add grant "+g.ID, func(ctx context.Context, tx transaction) error {
		for _, token := range []string{g.Subject, g.Object} {
			if project, ok := strings.CutPrefix(token, knowledge.SubjectProject); ok {
				if err := requireProject(ctx, tx, g.Workspace, project); err != nil {
					return err
				}
			}
		}
		return insertGrant(ctx, tx, &row)
	})
	if err != nil {
		return g, err
	}
	return row.grant()
}

// ofObject sets the project of a grant's object, and refuses an object that is not there for
// the principal.
func (s *grantStore) ofObject(ctx context.Context, p knowledge.Principal, g *knowledge.Grant) error {
	if id, ok := strings.CutPrefix(g.Object, knowledge.ObjectDocument); ok {
		doc, err := s.readDocument(ctx, p, id)
		if err != nil {
			return err
		}
		g.Project = doc.Project
	}
	if project, ok := strings.CutPrefix(g.Object, knowledge.ObjectProject); ok {
		if g.Project = project; !p.CoversProject(project) {
			return knowledge.NotFound("project", project)
		}
	}
	if g.Project == "" && p.Project() != "" {
		return knowledge.Errorf(knowledge.CodeForbidden, "a tag is of every project, and these credentials are for %q alone: name a document or the project", p.Project())
	}
	subject, ok := strings.CutPrefix(g.Subject, knowledge.SubjectProject)
	if ok && g.Project != "" && subject != g.Project {
		return invalid("body.subject.project", "must be the project of the object, "+g.Project+": a grant does not open a project to the keys of another one")
	}
	return nil
}

func insertGrant(ctx context.Context, tx transaction, row *grantRow) error {
	var earlier grantRow
	there, err := grantTable.first(ctx, tx, &earlier, "g.id = ? AND g.workspace = ?", row.ID, row.Workspace)
	if err != nil || there {
		*row = earlier
		return err
	}
	count, err := tx.NewSelect().Model((*grantRow)(nil)).Where("g.workspace = ?", row.Workspace).Count(ctx)
	if err == nil && count >= maxGrants {
		err = knowledge.Errorf(knowledge.CodeLimitReached, "this workspace has %d grants, which is the limit: remove those that have ended", count)
	}
	if err != nil {
		return err
	}
	return grantTable.insert(ctx, tx, row)
}

// GrantQuery asks for grants. Empty fields ask for all.
type GrantQuery struct {
	Subject, Object string // tokens
	Page
}

// Grants lists the grants of the principal's workspace, newest first, those that have ended
// too. A principal of one project sees those on its documents.
func (s *grantStore) Grants(ctx context.Context, p knowledge.Principal, query GrantQuery) ([]knowledge.Grant, string, error) {
	if err := requireWorkspace(p); err != nil {
		return nil, "", err
	}
	var rows []grantRow
	q := within(s.reader.NewSelect().Model(&rows), "g", p)
	for column, value := range map[string]string{"g.subject": query.Subject, "g.object": query.Object} {
		if value != "" {
			q = q.Where("? = ?", bun.Ident(column), value)
		}
	}
	q, limit, err := newestFirst(q, "g", "grants", query.Page, defaultLimit)
	if err != nil {
		return nil, "", err
	}
	if err := q.Scan(ctx); err != nil {
		return nil, "", fmt.Errorf("list grants: %w", failure(err))
	}
	rows, cursor := next(rows, limit, func(r grantRow) position { return position{List: "grants", Order: r.CreatedAt, ID: r.ID} })
	list, err := decodeRows(rows, func(r *grantRow) (knowledge.Grant, error) { return r.grant() })
	return list, cursor, err
}

// Grant returns a grant that Grants lists.
func (s *grantStore) Grant(ctx context.Context, p knowledge.Principal, id string) (knowledge.Grant, error) {
	if err := requireWorkspace(p); err != nil {
		return knowledge.Grant{}, err
	}
	var row grantRow
	there, err := found(within(s.reader.NewSelect().Model(&row), "g", p).Where("g.id = ?", id).Scan(ctx))
	switch {
	case err != nil:
		return knowledge.Grant{}, fmt.Errorf("read grant %s: %w", id, failure(err))
	case !there:
		return knowledge.Grant{}, knowledge.NotFound("grant", id)
	}
	return row.grant()
}

// RemoveGrant deletes a grant that Grants lists. It has no effect from then on.
func (s *grantStore) RemoveGrant(ctx context.Context, p knowledge.Principal, id string) error {
	if _, err := s.Grant(ctx, p, id); err != nil {
		return err
	}
	return s.write(ctx, "remove grant "+id, func(ctx context.Context, tx transaction) error {
		there, err := changed(tx.NewDelete().Model((*grantRow)(nil)).Where("id = ? AND workspace = ?", id, p.Workspace()).Exec(ctx))
		if err == nil && !there {
			err = knowledge.NotFound("grant", id)
		}
		return err
	})
}

// grantsOn returns the grants that mean a reader and a document now.
func (s *database) grantsOn(ctx context.Context, reader knowledge.Principal, d knowledge.Document) ([]knowledge.Grant, error) {
	subjects := reader.SubjectTokens()
	if len(subjects) == 0 {
		return nil, nil
	}
	rows, err := grantTable.all(ctx, s.reader, "g.workspace = ?1 AND (g.expires_at = 0 OR g.expires_at > ?2) AND g.subject IN ("+tokens3+") ORDER BY g.id",
		reader.Workspace(), micros(s.now()), jsonList(subjects))
	if err != nil {
		return nil, fmt.Errorf("read the grants on document %s: %w", d.ID, failure(err))
	}
	objects := []string{knowledge.ObjectDocument + d.ID, knowledge.ObjectProject + d.Project}
	for _, tag := range d.Tags {
		objects = append(objects, knowledge.ObjectTag+tag)
	}
	rows = slices.DeleteFunc(rows, func(r grantRow) bool { return !slices.Contains(objects, r.Object) })
	return decodeRows(rows, func(r *grantRow) (knowledge.Grant, error) { return r.grant() })
}
