package store

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// reindexStore has what a reindex has to make again, and how far it is.
type reindexStore struct {
	*database
	names *generationNames
}

// ReindexVersion inserts the next version of an outdated document, for a reindex. It
// has the original, the attributes and the override of the version that o names. A
// repetition returns the version that was inserted before. started is false if the
// document is no longer outdated. A document that is being removed is a conflict.
func (s *reindexStore) ReindexVersion(ctx context.Context, reindex string, o Outdated, config knowledge.ProjectConfig) (v Version, started bool, err error) {
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

// StartReindex inserts the run of a reindex, whose Progress has the number of outdated
// documents, and returns it. If the project has a reindex that runs, StartReindex
// returns that one instead. A run that the same owner started before under this id is
// returned as it is.
func (s *reindexStore) StartReindex(ctx context.Context, p knowledge.Principal, project, id string, config knowledge.ProjectConfig) (Run, error) {
	matched, err := s.CountOutdated(ctx, p, project, config)
	if err != nil {
		return Run{}, err
	}
	return s.startReindex(ctx, p, project, id, knowledge.ReindexProgress{Matched: matched})
}

// StartRebuild is StartReindex for a run that writes the index entries of all documents
// again.
func (s *reindexStore) StartRebuild(ctx context.Context, p knowledge.Principal, project, id string) (Run, error) {
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

func (s *reindexStore) startReindex(ctx context.Context, p knowledge.Principal, project, id string, begun knowledge.ReindexProgress) (Run, error) {
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
func (s *reindexStore) ReindexProgress(ctx context.Context, workspace, id string, part knowledge.ReindexProgress, seconds float64) (p knowledge.ReindexProgress, err error) {
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
func (s *projectStore) ProjectForSystem(ctx context.Context, workspace, id string) (knowledge.Project, error) {
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
