package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// generationStore has the generations of vectors that projects read and fill.
type generationStore struct {
	*database
	names *generationNames
}

// ErrGenerationsMoved is the error of RecordImported for a version that was written in
// other generations than its project has by now. Repeating the import writes those.
var ErrGenerationsMoved = errors.New("the project reads another generation of vectors by now")

// WantedGeneration returns the generation that a project's configuration asks for.
func (s *generationStore) WantedGeneration(config knowledge.ProjectConfig) string {
	return s.names.wanted(config)
}

// ProjectGenerations returns the generations of a project's vectors. Those of a project
// that does not exist are the instance's.
func (s *generationStore) ProjectGenerations(ctx context.Context, workspace, project string) (knowledge.Generations, error) {
	g, err := s.names.of(ctx, s.reader, workspace, project)
	if err != nil {
		return g, fmt.Errorf("read the generations of project %s: %w", project, failure(err))
	}
	return g, nil
}

// BeginFilling makes a generation the one that new versions of a project are written in
// too, and returns the generations. It replaces another one that was being filled.
func (s *generationStore) BeginFilling(ctx context.Context, workspace, project, generation string) (g knowledge.Generations, err error) {
	err = s.write(ctx, "begin a generation of project "+project, func(ctx context.Context, tx transaction) error {
		if g, err = s.names.of(ctx, tx, workspace, project); err != nil || g.Serving == generation || g.Filling == generation {
			return err
		}
		g.Filling = generation
		_, err := tx.exec(ctx, "UPDATE projects SET filling = ? WHERE workspace = ? AND id = ?", generation, workspace, project)
		return err
	})
	return g, err
}

// EndFilling makes a generation one that new versions of a project are not written in.
func (s *generationStore) EndFilling(ctx context.Context, workspace, project, generation string) error {
	return s.write(ctx, "give up a generation of project "+project, func(ctx context.Context, tx transaction) error {
		_, err := tx.exec(ctx, "UPDATE projects SET filling = '' WHERE workspace = ? AND id = ? AND filling = ?", workspace, project, generation)
		return err
	})
}

// SwitchGeneration makes the generation that was filled the one that the searches of a
// project read. switched is false if it was not being filled; repeating it changes nothing.
func (s *generationStore) SwitchGeneration(ctx context.Context, workspace, project, generation string) (switched bool, err error) {
	err = s.write(ctx, "switch the generation of project "+project, func(ctx context.Context, tx transaction) error {
		switched, err = changed(tx.exec(ctx, "UPDATE projects SET generation = filling, filling = '' WHERE workspace = ? AND id = ? AND filling = ?",
			workspace, project, generation))
		return err
	})
	return switched, err
}

// SearchedGeneration is a generation that searches read, with its projects.
type SearchedGeneration struct {
	Name     string
	Projects []string // nil = all that are searched
}

// bounds of the generations in a workspace: two seeks in an index.
const extremeGenerations = `SELECT COALESCE((SELECT min(generation) FROM projects WHERE workspace = ?1 AND removing_run = ''), ''),
	COALESCE((SELECT max(generation) FROM projects WHERE workspace = ?1 AND removing_run = ''), '')`

// SearchedGenerations returns the generations that a search of projects reads, by name.
// Empty projects means all that the principal covers.
func (s *generationStore) SearchedGenerations(ctx context.Context, p knowledge.Principal, projects []string) ([]SearchedGeneration, error) {
	if err := requireWorkspace(p); err != nil {
		return nil, err
	}
	var least, greatest string
	_, err := first(ctx, s.reader, []any{&least, &greatest}, extremeGenerations, p.Workspace())
	if err != nil {
		return nil, fmt.Errorf("read the generations of workspace %s: %w", p.Workspace(), failure(err))
	}
	if least == greatest {
		return []SearchedGeneration{{Name: cmp.Or(least, s.names.instance)}}, nil
	}
	list, err := s.generationsByProject(ctx, p, projects)
	if err != nil {
		return nil, fmt.Errorf("read the generations of workspace %s: %w", p.Workspace(), failure(err))
	}
	if len(list) == 1 && len(projects) > 0 {
		list[0].Projects = nil
	}
	return list, nil
}

func (s *generationStore) generationsByProject(ctx context.Context, p knowledge.Principal, projects []string) ([]SearchedGeneration, error) {
	rows, err := s.reader.query(ctx, `SELECT generation, id FROM projects AS p WHERE p.workspace = ?1 AND p.removing_run = '' AND (?2 = '' OR p.id = ?2)
		AND (?3 = '[]' OR p.id IN (SELECT value FROM json_each(?3))) ORDER BY generation, id`, p.Workspace(), p.Project(), jsonList(projects))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []SearchedGeneration
	for rows.Next() {
		var name, project string
		if err := rows.Scan(&name, &project); err != nil {
			return nil, err
		}
		if n := len(list); n == 0 || list[n-1].Name != name {
			list = append(list, SearchedGeneration{Name: name})
		}
		last := &list[len(list)-1]
		last.Projects = append(last.Projects, project)
	}
	return list, rows.Err()
}

// PublishedVersion is a version that readers see, with the number of its chunks.
type PublishedVersion struct {
	knowledge.VersionRef
	Chunks int
}

// publishedPage selects the published versions of a project that follow a document.
const publishedPage = `SELECT d.id, d.published_version, (SELECT count(*) FROM chunks AS c WHERE c.document_id = d.id AND c.version = d.published_version)
	FROM documents AS d WHERE d.workspace = ? AND d.project = ? AND NOT d.removed AND d.removing_upto = 0 AND d.published_version > 0 AND d.id > ?
	ORDER BY d.id LIMIT ?`

// PublishedVersions lists the published versions of a project by document, the versions of the
// documents that follow after.
func (s *generationStore) PublishedVersions(ctx context.Context, workspace, project, after string, limit int) ([]PublishedVersion, error) {
	rows, err := s.reader.query(ctx, publishedPage, workspace, project, after, limit)
	if err != nil {
		return nil, fmt.Errorf("list published versions: %w", failure(err))
	}
	defer rows.Close()
	var list []PublishedVersion
	for rows.Next() {
		v := PublishedVersion{VersionRef: knowledge.VersionRef{Workspace: workspace, Project: project}}
		if err := rows.Scan(&v.Document, &v.Version, &v.Chunks); err != nil {
			return nil, fmt.Errorf("list published versions: %w", failure(err))
		}
		list = append(list, v)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("list published versions: %w", failure(err))
	}
	return list, nil
}

// StaleProject is a project whose searches read the vectors of another model than its
// configuration, or the instance's, asks for by now.
type StaleProject struct {
	Workspace string
	Project   string
	Serving   string // generation that searches read
	Wanted    string
	Documents int // with vectors of Serving
	// Reindexing reports that a reindex of the project runs, which embeds them again.
	Reindexing bool
}

// StaleProjects lists the projects with published documents that were embedded with
// another model than the one that is wanted by now, by workspace and id.
func (s *generationStore) StaleProjects(ctx context.Context) ([]StaleProject, error) {
	rows, err := projectTable.all(ctx, s.reader, "p.removing_run = '' ORDER BY p.workspace, p.id")
	if err != nil {
		return nil, fmt.Errorf("list projects: %w", failure(err))
	}
	var list []StaleProject
	for _, row := range rows {
		project, err := row.project()
		if err != nil {
			return nil, err
		}
		stale, err := s.stale(ctx, project, row.Generation)
		if err != nil {
			return nil, err
		}
		if stale.Documents > 0 {
			list = append(list, stale)
		}
	}
	return list, nil
}

// StaleProject returns how many documents of a project were embedded with another model
// than the one that is wanted by now.
func (s *generationStore) StaleProject(ctx context.Context, p knowledge.Principal, project knowledge.Project) (StaleProject, error) {
	if project.Workspace != p.Workspace() || !p.CoversProject(project.ID) {
		return StaleProject{}, knowledge.NotFound("project", project.ID)
	}
	g, err := s.ProjectGenerations(ctx, project.Workspace, project.ID)
	if err != nil {
		return StaleProject{}, err
	}
	return s.stale(ctx, project, g.Serving)
}

// stale counts the published documents of a project, if their generation is not the wanted
// one.
func (s *generationStore) stale(ctx context.Context, project knowledge.Project, serving string) (StaleProject, error) {
	stale := StaleProject{Workspace: project.Workspace, Project: project.ID, Serving: serving, Wanted: s.names.wanted(project.Config)}
	if stale.Serving == stale.Wanted {
		return stale, nil
	}
	count, err := s.reader.NewSelect().Model((*documentRow)(nil)).
		Where("d.workspace = ? AND d.project = ? AND d.removed = FALSE AND d.published_version > 0", project.Workspace, project.ID).Count(ctx)
	if err != nil {
		return stale, fmt.Errorf("count documents of project %s: %w", project.ID, failure(err))
	}
	stale.Documents = int(count)
	if count > 0 {
		var row runRow
		stale.Reindexing, err = runTable.first(ctx, s.reader, &row, "r.workspace = ? AND r.kind = 'reindex' AND r.subject = ? AND r.status = 'running'", project.Workspace, project.ID)
	}
	if err != nil {
		return stale, fmt.Errorf("find the reindex of project %s: %w", project.ID, failure(err))
	}
	return stale, nil
}

// AnyPublished returns a published version with passages, ok = false if there is none. A
// caller compares it with the index, which may have been lost.
func (s *generationStore) AnyPublished(ctx context.Context) (ref knowledge.VersionRef, ok bool, err error) {
	var row documentRow
	err = s.reader.NewSelect().Model(&row).
		Where("d.removed = FALSE AND d.inactive = FALSE AND d.removing_upto = 0 AND d.published_version = d.version AND d.chunk_count > 0").Limit(1).Scan(ctx)
	if errors.Is(err, sql.ErrNoRows) {
		return ref, false, nil
	}
	if err != nil {
		return ref, false, fmt.Errorf("find a published document: %w", failure(err))
	}
	return knowledge.VersionRef{Workspace: row.Workspace, Project: row.Project, Document: row.ID, Version: row.PublishedVersion}, true, nil
}
