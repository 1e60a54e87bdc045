package store

import (
	"context"
	"fmt"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// publicationStore has the projects that are published as agents.
type publicationStore struct{ *database }

type publicationRow struct {
	bun.BaseModel `bun:"table:publications,alias:p"`
	Workspace     string `bun:"workspace,pk"`
	Project       string `bun:"project,pk"`
	Slug          string `bun:"slug"`
	Settings      string `bun:"settings"`
	Sealed        string `bun:"sealed"`
	CreatedAt     int64  `bun:"created_at"`
	UpdatedAt     int64  `bun:"updated_at"`
}

func newPublicationRow(p knowledge.Publication) (publicationRow, error) {
	settings, err := encode(p.PublicationSettings)
	if err != nil {
		return publicationRow{}, fmt.Errorf("encode the publication of project %s: %w", p.Project, err)
	}
	return publicationRow{
		Workspace: p.Workspace, Project: p.Project, Slug: p.Slug, Settings: settings, Sealed: p.Sealed,
		CreatedAt: micros(p.CreatedAt), UpdatedAt: micros(p.UpdatedAt),
	}, nil
}

func (r *publicationRow) publication() (knowledge.Publication, error) {
	p := knowledge.Publication{
		Workspace: r.Workspace, Project: r.Project, Slug: r.Slug, Sealed: r.Sealed, CreatedAt: fromMicros(r.CreatedAt), UpdatedAt: fromMicros(r.UpdatedAt),
	}
	if err := decode(field{r.Settings, &p.PublicationSettings}); err != nil {
		return p, fmt.Errorf("decode the publication of project %s: %w", r.Project, err)
	}
	return p, nil
}

// PutPublication stores the publication of a project that the principal covers, in the place of
// an earlier one. change receives the earlier one, or one of the project that is not stored yet,
// in the same transaction; its error is returned. created reports that there was none. A slug
// that another publication of the instance has is CodeConflict, and a project that does not exist
// CodeNotFound.
func (s *publicationStore) PutPublication(ctx context.Context, p knowledge.Principal, project string, change func(*knowledge.Publication) error) (stored knowledge.Publication, created bool, err error) {
	if err := requireProjectOf(p, project); err != nil {
		return stored, false, err
	}
	err = s.write(ctx, "publish project "+project, func(ctx context.Context, tx transaction) error {
		if err := requireProject(ctx, tx, p.Workspace(), project); err != nil {
			return err
		}
		row := publicationRow{Workspace: p.Workspace(), Project: project, CreatedAt: micros(s.now())}
		there, err := publicationTable.first(ctx, tx, &row, "p.workspace = ? AND p.project = ?", p.Workspace(), project)
		if err != nil {
			return err
		}
		created, stored = !there, knowledge.Publication{Workspace: row.Workspace, Project: project, CreatedAt: fromMicros(row.CreatedAt)}
		if there {
			if stored, err = row.publication(); err != nil {
				return err
			}
		}
		if err := change(&stored); err != nil {
			return err
		}
		stored.UpdatedAt = fromMicros(micros(s.now()))
		if row, err = newPublicationRow(stored); err != nil {
			return err
		}
		if there {
			err = publicationTable.update(ctx, tx, &row)
		} else {
			err = publicationTable.insert(ctx, tx, &row)
		}
		if isDuplicate(err) {
			return knowledge.Errorf(knowledge.CodeConflict, "another agent of this instance has the slug %q: choose another one", stored.Slug).WithCause(err)
		}
		return err
	})
	return stored, created, err
}

// Publication returns the publication of a project that the principal covers.
func (s *publicationStore) Publication(ctx context.Context, p knowledge.Principal, project string) (knowledge.Publication, error) {
	if err := requireProjectOf(p, project); err != nil {
		return knowledge.Publication{}, err
	}
	var row publicationRow
	there, err := publicationTable.first(ctx, s.reader, &row, "p.workspace = ? AND p.project = ?", p.Workspace(), project)
	switch {
	case err != nil:
		return knowledge.Publication{}, fmt.Errorf("read the publication of project %s: %w", project, failure(err))
	case !there:
		return knowledge.Publication{}, notPublished(project)
	}
	return row.publication()
}

func notPublished(project string) error {
	return knowledge.Errorf(knowledge.CodeNotFound, "the project %q is not published", project)
}

// Publications lists the publications of the projects that the principal covers, by their
// projects: at most 1,000.
func (s *publicationStore) Publications(ctx context.Context, p knowledge.Principal) ([]knowledge.Publication, error) {
	if err := requireWorkspace(p); err != nil {
		return nil, err
	}
	rows, err := publicationTable.all(ctx, s.reader, "p.workspace = ?1 AND (?2 = '' OR p.project = ?2) ORDER BY p.project LIMIT 1000", p.Workspace(), p.Project())
	if err != nil {
		return nil, fmt.Errorf("list publications: %w", failure(err))
	}
	return decodeRows(rows, (*publicationRow).publication)
}

// PublicationBySlug returns a publication without a check of permission: for who asks an agent,
// whom nobody knows yet.
func (s *publicationStore) PublicationBySlug(ctx context.Context, slug string) (knowledge.Publication, error) {
	var row publicationRow
	there, err := publicationTable.first(ctx, s.reader, &row, "p.slug = ?", slug)
	switch {
	case err != nil:
		return knowledge.Publication{}, fmt.Errorf("read agent %s: %w", slug, failure(err))
	case !there:
		return knowledge.Publication{}, knowledge.NotFound("agent", slug)
	}
	return row.publication()
}

// RemovePublication deletes the publication of a project that the principal covers, and the links
// to the conversations of its visitors. The conversations stay with the project.
func (s *publicationStore) RemovePublication(ctx context.Context, p knowledge.Principal, project string) error {
	if err := requireProjectOf(p, project); err != nil {
		return err
	}
	return s.write(ctx, "end the publication of project "+project, func(ctx context.Context, tx transaction) error {
		there, err := changed(tx.exec(ctx, "DELETE FROM publications WHERE workspace = ? AND project = ?", p.Workspace(), project))
		if err == nil && !there {
			err = notPublished(project)
		}
		if err != nil {
			return err
		}
		_, err = tx.exec(ctx, `DELETE FROM conversation_shares WHERE workspace = ?1 AND conversation_id IN (
			SELECT c.id FROM conversations AS c WHERE c.workspace = ?1 AND c.project = ?2)`, p.Workspace(), project)
		return err
	})
}
