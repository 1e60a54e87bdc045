package store

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/uptrace/bun"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// OutdatedQuery asks for outdated documents of a project: those whose published
// version, or a pending one that follows it, was not made with the project's splitter,
// with the version's override, or not with its enrichment. Attachments are left out:
// they get a new version with the document that contains them.
type OutdatedQuery struct {
	Workspace string
	Project   string
	Config    knowledge.ProjectConfig
	After     string // id of the last document of the page before, "" = the first page
	Limit     int    // 0 = no bound
	All       bool   // all documents are outdated
}

// Outdated is an outdated document.
type Outdated struct {
	knowledge.VersionRef        // the version to make again
	SourceKey            string // blob key of its original, "" = it was not stored
	HadPassword          bool   // of the file, which is not kept
	Removing             bool
}

// newestMade is, of a document, the version that is published or, if newer ones are pending,
// the newest of these.
const newestMade = `(SELECT max(n.version) FROM document_versions AS n
	WHERE n.document_id = d.id AND (n.version = d.published_version OR n.version > d.published_version AND n.status = 'pending'))`

// ofPublished selects from the documents of a project and, of each, that version.
const ofPublished = ` FROM documents AS d JOIN document_versions AS v ON v.document_id = d.id AND v.version = ` + newestMade + `
WHERE d.workspace = ? AND d.project = ? AND NOT d.removed AND d.published_version > 0 AND d.parent = ''`

// outdatedPage selects the versions that OutdatedDocuments checks, which follow a document.
const outdatedPage = "SELECT d.id, v.version, v.source_key, v.had_password, d.removing_upto > 0, v.splitter, v.override, v.enrichment" +
	ofPublished + " AND d.id > ? ORDER BY d.id"

// CountOutdated counts the outdated documents of a project.
func (s *reindexStore) CountOutdated(ctx context.Context, p knowledge.Principal, project string, config knowledge.ProjectConfig) (int, error) {
	if err := requireWrite(p); err != nil {
		return 0, err
	}
	if !p.CoversProject(project) {
		return 0, knowledge.NotFound("project", project)
	}
	moved, err := s.movedGeneration(ctx, p.Workspace(), project, config)
	count := 0
	if err == nil {
		count, err = s.countOutdated(ctx, p.Workspace(), project, config, moved)
	}
	if err != nil {
		return 0, fmt.Errorf("count outdated documents of project %s: %w", project, failure(err))
	}
	return count, nil
}

// OutdatedSet are the outdated documents of a project.
type OutdatedSet struct {
	IDs map[string]bool
	// Moved reports that the project asks for another embedding model than its searches
	// read. All documents are outdated then, and only a reindex of the project helps: new
	// versions are embedded with the model that the searches read.
	Moved bool
}

// OutdatedIDs returns the outdated documents of a project.
func (s *reindexStore) OutdatedIDs(ctx context.Context, p knowledge.Principal, project string, config knowledge.ProjectConfig) (OutdatedSet, error) {
	if err := requireWrite(p); err != nil {
		return OutdatedSet{}, err
	}
	if !p.CoversProject(project) {
		return OutdatedSet{}, knowledge.NotFound("project", project)
	}
	moved, err := s.movedGeneration(ctx, p.Workspace(), project, config)
	if err != nil {
		return OutdatedSet{}, err
	}
	list, _, err := s.OutdatedDocuments(ctx, OutdatedQuery{Workspace: p.Workspace(), Project: project, Config: config, All: moved})
	set := OutdatedSet{IDs: make(map[string]bool, len(list)), Moved: moved}
	for _, o := range list {
		set.IDs[o.Document] = true
	}
	return set, err
}

// OutdatedFilter chooses outdated documents in a DocumentQuery; without projects it chooses
// none.
type OutdatedFilter struct{ projects []outdatedProject }

// outdatedProject are the ways to make a document that are outdated in a project.
type outdatedProject struct {
	id      string
	all     bool // another embedding model is wanted, so every document is outdated
	makings []making
}

// FilterOutdated returns the filter for the outdated documents of projects.
func (s *reindexStore) FilterOutdated(ctx context.Context, p knowledge.Principal, projects ...knowledge.Project) (*OutdatedFilter, error) {
	if err := requireWrite(p); err != nil {
		return nil, err
	}
	filter := &OutdatedFilter{}
	for _, project := range projects {
		if !p.CoversProject(project.ID) {
			return nil, knowledge.NotFound("project", project.ID)
		}
		moved, err := s.movedGeneration(ctx, p.Workspace(), project.ID, project.Config)
		if err != nil {
			return nil, err
		}
		one := outdatedProject{id: project.ID, all: moved}
		if !moved {
			counted, err := s.outdatedMakings(ctx, p.Workspace(), project.ID, project.Config)
			if err != nil {
				return nil, fmt.Errorf("list what is outdated in project %s: %w", project.ID, failure(err))
			}
			one.makings = slices.Collect(maps.Keys(counted))
		}
		if one.all || len(one.makings) > 0 {
			filter.projects = append(filter.projects, one)
		}
	}
	return filter, nil
}

// where restricts a query to the documents of the filter.
func (f *OutdatedFilter) where(q *bun.SelectQuery) *bun.SelectQuery {
	if len(f.projects) == 0 {
		return q.Where("1 = 0")
	}
	return q.Where("d.published_version > 0 AND d.parent = ''").WhereGroup(" AND ", func(q *bun.SelectQuery) *bun.SelectQuery {
		for _, one := range f.projects {
			if one.all {
				q = q.WhereOr("d.project = ?", one.id)
				continue
			}
			for _, m := range one.makings {
				q = q.WhereOr("(d.project = ? AND EXISTS (SELECT 1 FROM document_versions AS v WHERE v.document_id = d.id AND v.version = "+newestMade+
					" AND v.splitter = ? AND v.override = ? AND v.enrichment = ?))", one.id, m.splitter, m.override, m.enrichment)
			}
		}
		return q
	})
}

// movedGeneration reports whether the configuration asks for other vectors than those that
// the searches of a project read.
func (s *reindexStore) movedGeneration(ctx context.Context, workspace, project string, config knowledge.ProjectConfig) (bool, error) {
	g, err := s.names.of(ctx, s.reader, workspace, project)
	if err != nil {
		return false, fmt.Errorf("read the generations of project %s: %w", project, failure(err))
	}
	return g.Serving != s.names.wanted(config), nil
}

// countOutdated counts the outdated documents of a project; all: every document is.
func (s *reindexStore) countOutdated(ctx context.Context, workspace, project string, config knowledge.ProjectConfig, all bool) (count int, err error) {
	if all {
		_, err := first(ctx, s.reader, []any{&count}, "SELECT count(*)"+ofPublished, workspace, project)
		return count, err
	}
	counted, err := s.outdatedMakings(ctx, workspace, project, config)
	for _, documents := range counted {
		count += documents
	}
	return count, err
}

// outdatedMakings returns the ways to make a document that are outdated in a project, each
// with the number of documents that were made so.
func (s *reindexStore) outdatedMakings(ctx context.Context, workspace, project string, config knowledge.ProjectConfig) (map[making]int, error) {
	rows, err := s.reader.query(ctx, "SELECT v.splitter, v.override, v.enrichment, count(*)"+ofPublished+" GROUP BY 1, 2, 3", workspace, project)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	counted := map[making]int{}
	for rows.Next() {
		var m making
		var documents int
		if err := rows.Scan(&m.splitter, &m.override, &m.enrichment, &documents); err != nil {
			return nil, err
		}
		outdated, err := m.outdated(config)
		if err != nil {
			return nil, err
		}
		if outdated {
			counted[m] = documents
		}
	}
	return counted, rows.Err()
}

// OutdatedDocuments lists outdated documents by id. more is the After of the next page,
// "" = there is none.
func (s *reindexStore) OutdatedDocuments(ctx context.Context, q OutdatedQuery) (list []Outdated, more string, err error) {
	rows, err := s.reader.query(ctx, outdatedPage, q.Workspace, q.Project, q.After)
	if err != nil {
		return nil, "", fmt.Errorf("list outdated documents: %w", failure(err))
	}
	defer rows.Close()
	known := map[making]bool{}
	for rows.Next() {
		var m making
		o := Outdated{VersionRef: knowledge.VersionRef{Workspace: q.Workspace, Project: q.Project}}
		if err := rows.Scan(&o.Document, &o.Version, &o.SourceKey, &o.HadPassword, &o.Removing, &m.splitter, &m.override, &m.enrichment); err != nil {
			return nil, "", fmt.Errorf("list outdated documents: %w", failure(err))
		}
		outdated, there := known[m]
		if !there {
			if outdated, err = m.outdated(q.Config); err != nil {
				return nil, "", err
			}
			known[m] = outdated
		}
		if !outdated && !q.All {
			continue
		}
		if list = append(list, o); len(list) == q.Limit {
			return list, o.Document, nil
		}
	}
	if err := rows.Err(); err != nil {
		return nil, "", fmt.Errorf("list outdated documents: %w", failure(err))
	}
	return list, "", nil
}

// making is how a version was made, as its row has it.
type making struct{ splitter, override, enrichment string }

// outdated reports whether a version that is made today would be made otherwise. An
// override that the configuration no longer allows does not count.
func (m making) outdated(config knowledge.ProjectConfig) (bool, error) {
	var made knowledge.Splitter
	var override knowledge.Override
	var enrichment knowledge.VersionEnrichment
	if err := decode(field{m.splitter, &made}, field{m.override, &override}, field{m.enrichment, &enrichment}); err != nil {
		return false, err
	}
	splitter, err := override.ApplyTo(config)
	if knowledge.IsCode(err, knowledge.CodeInvalid) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return madeOtherwise(made, splitter, enrichment, override.EnrichmentIn(config))
}

// madeOtherwise reports whether two versions with the same override are made in different
// ways. Another model of the enrichment does not count.
func madeOtherwise(a, b knowledge.Splitter, enrichedA, enrichedB knowledge.VersionEnrichment) (bool, error) {
	before, err := encode(a.WithDefaults())
	if err != nil {
		return false, err
	}
	now, err := encode(b.WithDefaults())
	enrichedA.Model, enrichedB.Model = "", ""
	return before != now || enrichedA != enrichedB, err
}

// isOutdated reports whether the version is still the one to make again.
func isOutdated(ctx context.Context, tx transaction, o Outdated, config knowledge.ProjectConfig) (bool, error) {
	var m making
	there, err := first(ctx, tx, []any{&m.splitter, &m.override, &m.enrichment},
		"SELECT v.splitter, v.override, v.enrichment"+ofPublished+" AND d.id = ? AND v.version = ?", o.Workspace, o.Project, o.Document, o.Version)
	if err != nil || !there {
		return false, err
	}
	return m.outdated(config)
}
