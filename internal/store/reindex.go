package store

import (
	"context"
	"encoding/json"
	"fmt"

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

// ofPublished selects from the documents of a project and, of each, the version that is
// published or, if newer ones are pending, the newest of these.
const ofPublished = ` FROM documents AS d JOIN document_versions AS v ON v.document_id = d.id AND v.version = (
	SELECT max(n.version) FROM document_versions AS n
	WHERE n.document_id = d.id AND (n.version = d.published_version OR n.version > d.published_version AND n.status = 'pending'))
WHERE d.workspace = ? AND d.project = ? AND NOT d.removed AND d.published_version > 0 AND d.parent = ''`

// outdatedPage selects the versions that OutdatedDocuments checks, which follow a document.
const outdatedPage = "SELECT d.id, v.version, v.source_key, v.had_password, d.removing_upto > 0, v.splitter, v.override, v.enrichment" +
	ofPublished + " AND d.id > ? ORDER BY d.id"

// CountOutdated counts the outdated documents of a project.
func (s *Store) CountOutdated(ctx context.Context, p knowledge.Principal, project string, config knowledge.ProjectConfig) (int, error) {
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
func (s *Store) OutdatedIDs(ctx context.Context, p knowledge.Principal, project string, config knowledge.ProjectConfig) (OutdatedSet, error) {
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

// movedGeneration reports whether the configuration asks for other vectors than those that
// the searches of a project read.
func (s *Store) movedGeneration(ctx context.Context, workspace, project string, config knowledge.ProjectConfig) (bool, error) {
	g, err := s.ProjectGenerations(ctx, workspace, project)
	return g.Serving != s.WantedGeneration(config), err
}

// countOutdated decides once for all documents that were made in the same way.
func (s *Store) countOutdated(ctx context.Context, workspace, project string, config knowledge.ProjectConfig, all bool) (count int, err error) {
	rows, err := s.reader.query(ctx, "SELECT v.splitter, v.override, v.enrichment, count(*)"+ofPublished+" GROUP BY 1, 2, 3", workspace, project)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var m making
		var documents int
		if err := rows.Scan(&m.splitter, &m.override, &m.enrichment, &documents); err != nil {
			return 0, err
		}
		outdated := all
		if !all {
			if outdated, err = m.outdated(config); err != nil {
				return 0, err
			}
		}
		if outdated {
			count += documents
		}
	}
	return count, rows.Err()
}

// OutdatedDocuments lists outdated documents by id. more is the After of the next page,
// "" = there is none.
func (s *Store) OutdatedDocuments(ctx context.Context, q OutdatedQuery) (list []Outdated, more string, err error) {
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

// ReindexVersion inserts the next version of an outdated document, for a reindex. It
// has the original, the attributes and the override of the version that o names. A
// repetition returns the version that was inserted before. started is false if the
// document is no longer outdated. A document that is being removed is a conflict.
func (s *Store) ReindexVersion(ctx context.Context, reindex string, o Outdated, config knowledge.ProjectConfig) (v Version, started bool, err error) {
	run := knowledge.DerivedID("reindex", reindex, o.Document)
	now := s.now()
	var a addition
	err = s.write(ctx, "reindex document "+o.Document, func(ctx context.Context, tx transaction) error {
		a = addition{NewVersion: NewVersion{DocumentID: o.Document, RunID: run, ParentRun: reindex, Now: now}}
		var before runRow
		again, err := runTable.first(ctx, tx, &before, "r.id = ? AND r.workspace = ?", run, o.Workspace)
		if err == nil && again {
			ref := o.VersionRef
			ref.Version, started = before.Version, true
			return loadVersion(ctx, tx, ref, &a.row)
		}
		if err == nil {
			started, err = isOutdated(ctx, tx, o, config)
		}
		if err != nil || !started {
			return err
		}
		if a.there, err = loadDocument(ctx, tx, o.Document, &a.doc); err != nil {
			return err
		}
		if err := a.copyVersion(ctx, tx, o.Version, config); err != nil {
			return err
		}
		return a.insert(ctx, tx)
	})
	if err != nil || !started {
		return Version{}, false, err
	}
	v, err = a.row.version()
	return v, true, err
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

// StartReindex inserts the run of a reindex, whose Progress has the number of outdated
// documents, and returns it. If the project has a reindex that runs, StartReindex
// returns that one instead. A run that the same owner started before under this id is
// returned as it is.
func (s *Store) StartReindex(ctx context.Context, p knowledge.Principal, project, id string, config knowledge.ProjectConfig) (Run, error) {
	matched, err := s.CountOutdated(ctx, p, project, config)
	if err != nil {
		return Run{}, err
	}
	return s.startReindex(ctx, p, project, id, knowledge.ReindexProgress{Matched: matched})
}

// StartRebuild is StartReindex for a run that writes the index entries of all documents
// again.
func (s *Store) StartRebuild(ctx context.Context, p knowledge.Principal, project, id string) (Run, error) {
	if err := requireWrite(p); err != nil {
		return Run{}, err
	}
	if !p.CoversProject(project) {
		return Run{}, knowledge.NotFound("project", project)
	}
	matched, err := s.countOutdated(ctx, p.Workspace(), project, knowledge.ProjectConfig{}, true)
	if err != nil {
		return Run{}, fmt.Errorf("count documents of project %s: %w", project, failure(err))
	}
	return s.startReindex(ctx, p, project, id, knowledge.ReindexProgress{Matched: matched, Rebuild: true})
}

func (s *Store) startReindex(ctx context.Context, p knowledge.Principal, project, id string, begun knowledge.ReindexProgress) (Run, error) {
	progress, err := json.Marshal(begun)
	if err != nil {
		return Run{}, fmt.Errorf("encode the progress of run %s: %w", id, err)
	}
	fresh := Run{
		ID: id, Workspace: p.Workspace(), Project: project, Kind: knowledge.KindReindex, Status: knowledge.RunRunning, Owner: p.Owner(), Progress: progress,
		WorkflowID: knowledge.KindReindex.WorkflowID(p.Workspace(), project), Subject: project, CreatedAt: s.now(),
	}
	var run Run
	err = s.write(ctx, "start reindex "+id, func(ctx context.Context, tx transaction) error {
		run = fresh
		var row runRow
		there, err := runTable.first(ctx, tx, &row, `r.workspace = ?1 AND (r.id = ?2 AND r.owner = ?3 OR
			r.kind = 'reindex' AND r.subject = ?4 AND r.status = 'running') ORDER BY r.id = ?2 DESC LIMIT 1`, run.Workspace, id, run.Owner, project)
		if err != nil {
			return err
		}
		if !there {
			return insertRun(ctx, tx, run)
		}
		run, err = row.run()
		return err
	})
	return run, err
}

// ReindexProgress stores how far a reindex is: the part of the progress that its
// workflow knows, together with the outcomes of the versions that it started. It
// returns the whole. seconds is how long the reindex has worked.
func (s *Store) ReindexProgress(ctx context.Context, workspace, id string, part knowledge.ReindexProgress, seconds float64) (p knowledge.ReindexProgress, err error) {
	err = s.write(ctx, "note the progress of reindex "+id, func(ctx context.Context, tx transaction) error {
		var row runRow
		there, err := runTable.first(ctx, tx, &row, "r.id = ? AND r.workspace = ?", id, workspace)
		if err == nil && !there {
			err = knowledge.NotFound("run", id)
		}
		if err != nil {
			return err
		}
		if p, err = row.withOutcomes(ctx, tx, part); err != nil {
			return err
		}
		p = p.WithRate(seconds)
		text, err := encode(p)
		if err != nil {
			return err
		}
		_, err = tx.exec(ctx, "UPDATE runs SET progress = ? WHERE id = ? AND status = 'running'", text, id)
		return err
	})
	return p, err
}

// withOutcomes completes the progress of a reindex.
func (r *runRow) withOutcomes(ctx context.Context, tx transaction, p knowledge.ReindexProgress) (knowledge.ReindexProgress, error) {
	var before knowledge.ReindexProgress
	if err := decode(field{r.Progress, &before}); err != nil {
		return p, fmt.Errorf("decode the progress of run %s: %w", r.ID, err)
	}
	p.Matched, p.Rebuild = before.Matched, before.Rebuild
	rows, err := tx.query(ctx, "SELECT status, count(*) FROM runs WHERE parent = ? AND parent <> '' GROUP BY status", r.ID)
	if err != nil {
		return p, err
	}
	defer rows.Close()
	for rows.Next() {
		var status knowledge.RunStatus
		var count int
		if err := rows.Scan(&status, &count); err != nil {
			return p, err
		}
		p.Started += count
		switch status {
		case knowledge.RunCompleted:
			p.Published = count
		case knowledge.RunFailed:
			p.Failed = count
		case knowledge.RunCanceled:
			p.Canceled = count
		}
	}
	return p, rows.Err()
}

// ProjectForSystem returns a project without a check of permission: for workers.
func (s *Store) ProjectForSystem(ctx context.Context, workspace, id string) (knowledge.Project, error) {
	var row projectRow
	there, err := projectTable.first(ctx, s.reader, &row, "p.workspace = ? AND p.id = ?", workspace, id)
	if err == nil && !there {
		err = knowledge.NotFound("project", id)
	}
	if err != nil {
		return knowledge.Project{}, fmt.Errorf("read project %s: %w", id, failure(err))
	}
	return row.project()
}
