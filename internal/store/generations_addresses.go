package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// addressOf is the name of the setting that holds the address of a generation's endpoint.
func addressOf(generation string) string { return "embedding_address " + generation }

// EmbeddingAddress returns the address of the endpoint that makes the vectors of a
// generation, "" if none is recorded.
func (s *generationStore) EmbeddingAddress(ctx context.Context, generation string) (string, error) {
	row := settingRow{Name: addressOf(generation)}
	_, err := found(s.reader.NewSelect().Model(&row).WherePK().Scan(ctx))
	if err != nil {
		return "", fmt.Errorf("read the embedding endpoint of %s: %w", generation, failure(err))
	}
	return row.Value, nil
}

// MoveEmbeddings records the address of the endpoint of a generation if the recorded one is
// still was, "" = none. It returns the recorded address: of several callers at once, the
// first one decides.
func (s *generationStore) MoveEmbeddings(ctx context.Context, generation, was, address string) (recorded string, err error) {
	err = s.write(ctx, "record the embedding endpoint of "+generation, func(ctx context.Context, tx transaction) error {
		row := settingRow{Name: addressOf(generation)}
		there, err := found(tx.NewSelect().Model(&row).WherePK().Scan(ctx))
		if recorded = row.Value; err != nil || recorded != was {
			return err
		}
		row.Value, recorded = address, address
		if there {
			_, err = tx.NewUpdate().Model(&row).WherePK().Exec(ctx)
		} else {
			_, err = tx.NewInsert().Model(&row).Exec(ctx)
		}
		return err
	})
	return recorded, err
}

// UseGeneration makes a generation the one that this process wants for the model and the
// dimensions of it. Projects without published documents read the generation that they
// want from then on.
func (s *generationStore) UseGeneration(ctx context.Context, generation string) error {
	s.names.revised.Store(knowledge.BaseGeneration(generation), generation)
	rows, err := projectTable.all(ctx, s.reader, "p.removing_run = '' AND p.generation <> ?", generation)
	if err != nil {
		return fmt.Errorf("list projects: %w", failure(err))
	}
	for _, row := range rows {
		project, err := row.project()
		if err != nil {
			return err
		}
		if s.names.wanted(project.Config) != generation {
			continue
		}
		err = s.write(ctx, "adopt a generation for project "+row.ID, func(ctx context.Context, tx transaction) error {
			return adoptGeneration(ctx, tx, row.Workspace, row.ID, generation)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// WantedGenerations returns the generations that the projects' configurations and the
// instance's ask for.
func (s *generationStore) WantedGenerations(ctx context.Context) ([]string, error) {
	rows, err := projectTable.all(ctx, s.reader, "p.removing_run = ''")
	if err != nil {
		return nil, fmt.Errorf("list projects: %w", failure(err))
	}
	list := []string{s.names.wanted(knowledge.ProjectConfig{})}
	for _, row := range rows {
		project, err := row.project()
		if err != nil {
			return nil, err
		}
		if wanted := s.names.wanted(project.Config); !slices.Contains(list, wanted) {
			list = append(list, wanted)
		}
	}
	return list, nil
}

// generationPage selects published versions with passages of projects that read a generation.
const generationPage = `SELECT d.workspace, d.project, d.id, d.published_version, (SELECT count(*) FROM chunks AS c WHERE c.document_id = d.id AND c.version = d.published_version)
	FROM documents AS d JOIN projects AS p ON p.workspace = d.workspace AND p.id = d.project
	WHERE p.generation = ? AND p.removing_run = '' AND NOT d.removed AND d.removing_upto = 0 AND d.published_version > 0
		AND EXISTS (SELECT 1 FROM chunks AS c WHERE c.document_id = d.id AND c.version = d.published_version)
	LIMIT ?`

// PublishedIn lists some published versions of projects whose searches read a generation.
func (s *generationStore) PublishedIn(ctx context.Context, generation string, limit int) ([]PublishedVersion, error) {
	rows, err := s.reader.query(ctx, generationPage, generation, limit)
	if err != nil {
		return nil, fmt.Errorf("list the published versions of %s: %w", generation, failure(err))
	}
	defer rows.Close()
	var list []PublishedVersion
	for rows.Next() {
		var v PublishedVersion
		if err := rows.Scan(&v.Workspace, &v.Project, &v.Document, &v.Version, &v.Chunks); err != nil {
			return nil, fmt.Errorf("list the published versions of %s: %w", generation, failure(err))
		}
		list = append(list, v)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list the published versions of %s: %w", generation, failure(err))
	}
	return list, nil
}
